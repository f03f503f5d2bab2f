import { Admission } from "../../api/admission.ts";
import { BuiltInFields } from "../../api/kubernetes/built-in-fields.ts";
import { builtInKinds } from "./built-in-kinds.ts";

/** The schemas and compiled rules of an API server. They say nothing about a cluster: servers of one process may share them. */
export class ServerSchemas {
  readonly fields = new BuiltInFields();
  readonly admission = new Admission("all");
  readonly builtInKinds = builtInKinds(this);
}
