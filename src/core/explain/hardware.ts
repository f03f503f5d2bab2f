import { labels } from "../../api/labels.ts";

/** Labels that say what an image was built for: on other nodes it does not start. */
export function isPlatformLabel(key: string): boolean {
  return key === labels.arch || key === labels.os || key === labels.windowsBuild;
}

/** Labels of hardware a pod was written for. */
export function isHardwareLabel(key: string): boolean {
  return isPlatformLabel(key) || /(gpu|accelerator|neuron)/.test(key);
}

/** GPUs and other devices: extended resources have a domain. */
export function isDeviceResource(resource: string): boolean {
  return resource.includes("/");
}
