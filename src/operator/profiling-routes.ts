import { Session } from "node:inspector/promises";
import type { Clock } from "../util/clock.ts";
import type { RouteReply, Routes } from "./serve-routes.ts";

const json = "application/json";
const maxSeconds = 300;

/** Profiles of this process, for the developer tools of a browser; served with `--enable-profiling`. (03 §6.5) */
export function profilingRoutes(clock: Clock): Routes {
  const secondsOf = (url: URL, defaultSeconds: number): number => {
    const asked = Number(url.searchParams.get("seconds") ?? defaultSeconds);
    return asked >= 0 && asked <= maxSeconds ? asked : defaultSeconds;
  };
  return {
    "/debug/pprof/": () => ({ status: 200, body: index }),
    "/debug/pprof/profile": (url) =>
      profileReply(async (session) => {
        await session.post("Profiler.enable");
        await session.post("Profiler.start");
        await clock.sleep(secondsOf(url, 30) * 1_000);
        return (await session.post("Profiler.stop")).profile;
      }),
    "/debug/pprof/heap": (url) =>
      profileReply(async (session) => {
        await session.post("HeapProfiler.startSampling", { samplingInterval: 32_768 });
        await clock.sleep(secondsOf(url, 10) * 1_000);
        return (await session.post("HeapProfiler.stopSampling")).profile;
      }),
  };
}

const index = `profile  CPU profile of ?seconds=30: save as .cpuprofile
heap     sampled heap allocations of ?seconds=10: save as .heapprofile
`;

async function profileReply(profile: (session: Session) => Promise<unknown>): Promise<RouteReply> {
  const session = new Session();
  session.connect();
  try {
    return { status: 200, contentType: json, body: JSON.stringify(await profile(session)) };
  } finally {
    session.disconnect();
  }
}
