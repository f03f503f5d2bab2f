/** Where charts install the controller, the usual one first. */
export const controllerNamespaces = ["karpenter", "kube-system"] as const;
export type ControllerNamespace = (typeof controllerNamespaces)[number];
