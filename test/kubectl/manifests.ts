export const nodePool = ({ cpu = 1000, extra = "" }: { cpu?: number; extra?: string } = {}): string => `
apiVersion: karpenter.sh/v1
kind: NodePool
metadata:
  name: general
spec:
  template:
    spec:
      requirements:
        - key: kubernetes.io/arch
          operator: In
          values: [amd64]
      nodeClassRef:
        group: karpenter.kwok.sh
        kind: KWOKNodeClass
        name: default
      expireAfter: 720h
  limits:
    cpu: ${cpu}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 1m
${extra}`;

export const deployment = ({ image = "nginx:1" }: { image?: string } = {}): string => `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: api
  labels: {app: api}
spec:
  replicas: 2
  selector: {matchLabels: {app: api}}
  template:
    metadata: {labels: {app: api}}
    spec:
      containers:
        - name: api
          image: ${image}
          resources: {requests: {cpu: 100m, memory: 64Mi}}
          ports: [{containerPort: 8080}]
`;

export const configMap = ({ name = "settings", a = "1" }: { name?: string; a?: string } = {}): string => `
apiVersion: v1
kind: ConfigMap
metadata: {name: ${name}}
data: {a: "${a}", b: "2"}
`;

/** Placed by hand: nothing schedules here. */
export const pod = ({ name, node, labels = "app: x" }: { name: string; node?: string; labels?: string }): string => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, labels: {${labels}}}
spec:
  ${node === undefined ? "" : `nodeName: ${node}`}
  containers: [{name: c, image: nginx:1}]
`;

export const provisioner = `
apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: old}
spec:
  providerRef: {name: old}
  ttlSecondsAfterEmpty: 30
`;

export const v1beta1NodePool = `
apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: elder}
spec:
  template:
    spec:
      requirements:
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
      nodeClassRef: {apiVersion: karpenter.k8s.aws/v1beta1, kind: EC2NodeClass, name: default}
  disruption: {consolidationPolicy: WhenUnderutilized}
`;

export const storageClass = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: disk, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: disk.example.com
volumeBindingMode: WaitForFirstConsumer
`;

export const statefulSet = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "postgres:16", volumeMounts: [{name: data, mountPath: /data}]}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
`;

export const daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: "agent:1"}]}
`;

/** Its pods sleep long before they stop. */
export const lingering = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: lingering}
spec:
  replicas: 2
  selector: {matchLabels: {app: lingering}}
  template:
    metadata: {labels: {app: lingering}}
    spec:
      containers: [{name: c, image: "x:1", lifecycle: {preStop: {sleep: {seconds: 20}}}}]
`;

/** Manifests as the items of a List. */
export const list = (...manifests: readonly string[]): string => {
  const items = manifests.map((text) => text.trim().replaceAll("\n", "\n    "));
  return `apiVersion: v1\nkind: List\nitems:\n${items.map((item) => `  - ${item}\n`).join("")}`;
};
