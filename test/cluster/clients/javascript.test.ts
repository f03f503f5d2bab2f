import { readFileSync } from "node:fs";
import { javascriptClientScenario } from "../../control-plane/foreign/javascript-client.ts";
import { describeOnCluster } from "../shared.ts";

// What the embedded server is held to in tier 1 is what a real one does.
describeOnCluster("the official JavaScript client on a real kube-apiserver", ({ kubeconfigPath }) => {
  javascriptClientScenario(() => readFileSync(kubeconfigPath, "utf8"));
});
