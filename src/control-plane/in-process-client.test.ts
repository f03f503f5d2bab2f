import { kubeClientContract } from "../../test/contracts/kube-client.ts";
import { systemClock } from "../util/clock.ts";
import { Random } from "../util/random.ts";
import { ApiServer } from "./api/server.ts";
import { InProcessClient } from "./in-process-client.ts";

kubeClientContract("in process", {
  open: async () => {
    const server = new ApiServer({ clock: systemClock(), random: new Random("contract") });
    return { client: new InProcessClient(server) };
  },
});
