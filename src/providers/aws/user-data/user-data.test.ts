import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { parse as parseYaml } from "yaml";
import type { AmiFamily } from "../../../api/vocabulary.ts";
import { readMimeArchive, writeMimeArchive } from "./mime-archive.ts";
import { renderUserData } from "./user-data.ts";
import type { UserDataRequest } from "./user-data-request.ts";

/** Enough of a bootstrap command to look into one. */
interface Commands {
  readonly commands: readonly (readonly string[])[];
}

const base: UserDataRequest = {
  amiFamily: "AL2023",
  cluster: {
    name: "prod",
    endpoint: "https://abc.eks.amazonaws.com",
    caBundle: "Y2E=",
    dnsIp: "10.100.0.10",
    cidr: "10.100.0.0/16",
  },
  kubelet: { maxPods: 29, clusterDNS: ["10.100.0.10"] },
  labels: { "karpenter.sh/capacity-type": "spot", app: "web" },
  taints: [
    { key: "team", value: "a", effect: "NoSchedule" },
    { key: "karpenter.sh/unregistered", effect: "NoExecute" },
  ],
};

function rendered(request: Partial<UserDataRequest>): string {
  const result = renderUserData({ ...base, ...request });
  if (result.kind === "error") throw new Error(`${result.code}: ${result.message}`);
  return result.text;
}

function failure(request: Partial<UserDataRequest>) {
  const result = renderUserData({ ...base, ...request });
  return result.kind === "error" ? result.code : "ok";
}

const fullKubelet = {
  maxPods: 29,
  podsPerCore: 4,
  clusterDNS: ["10.0.0.53"],
  systemReserved: { memory: "100Mi", cpu: "100m" },
  kubeReserved: { memory: "200Mi", cpu: "200m" },
  evictionHard: { "nodefs.available": "10%", "memory.available": "5%" },
  evictionSoft: { "memory.available": "10%" },
  evictionSoftGracePeriod: { "memory.available": "90s" },
  evictionMaxPodGracePeriod: 30,
  imageGCHighThresholdPercent: 80,
  imageGCLowThresholdPercent: 60,
  cpuCFSQuota: false,
};

function parts(text: string) {
  const reading = readMimeArchive(text);
  if (reading.kind === "error") throw new Error(reading.message);
  return reading.parts;
}

describe("AL2", () => {
  it("04 §1.9 calls the bootstrap script with what the kubelet needs", () => {
    expect(rendered({ amiFamily: "AL2" })).toBe(`MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="//"

--//
Content-Type: text/x-shellscript; charset="us-ascii"

#!/bin/bash -xe
exec > >(tee /var/log/user-data.log|logger -t user-data -s 2>/dev/console) 2>&1
/etc/eks/bootstrap.sh 'prod' --apiserver-endpoint 'https://abc.eks.amazonaws.com' --b64-cluster-ca 'Y2E=' \\
--dns-cluster-ip '10.100.0.10' \\
--use-max-pods false \\
--kubelet-extra-args '--node-labels="app=web,karpenter.sh/capacity-type=spot" --register-with-taints="team=a:NoSchedule,karpenter.sh/unregistered=:NoExecute" --max-pods=29'
--//--
`);
  });

  it("04 §1.9 kubelet arguments come in a fixed order with sorted maps", () => {
    const flags = /--kubelet-extra-args '(.*)'/.exec(rendered({ amiFamily: "AL2", kubelet: fullKubelet }))?.[1];
    expect(flags?.split(" ").slice(2)).toEqual([
      "--max-pods=29",
      "--pods-per-core=4",
      '--system-reserved="cpu=100m,memory=100Mi"',
      '--kube-reserved="cpu=200m,memory=200Mi"',
      '--eviction-hard="memory.available<5%,nodefs.available<10%"',
      '--eviction-soft="memory.available<10%"',
      '--eviction-soft-grace-period="memory.available=1m30s"',
      "--eviction-max-pod-grace-period=30",
      "--image-gc-high-threshold=80",
      "--image-gc-low-threshold=60",
      "--cpu-cfs-quota=false",
    ]);
  });

  it("04 §1.9 an IPv6 cluster and local disks have options of their own", () => {
    const kubelet = { maxPods: 29, clusterDNS: ["fd00::a"] };
    const text = rendered({ amiFamily: "AL2", kubelet, instanceStorePolicy: "RAID0" });
    expect(text).toContain("--ip-family ipv6 \\\n--dns-cluster-ip 'fd00::a'");
    expect(text).toContain("\\\n--local-disks raid0\n--//--");
  });

  it("04 §1.9 the user's script comes first", () => {
    const [first, second, ...more] = parts(rendered({ amiFamily: "AL2", custom: "#!/bin/sh\r\necho hi\r\n" }));
    expect(first).toEqual({
      headers: [`Content-Type: text/x-shellscript; charset="us-ascii"`],
      content: "#!/bin/sh\necho hi\n",
    });
    expect(second?.content).toContain("/etc/eks/bootstrap.sh");
    expect(more).toEqual([]);
  });

  it("04 §1.9 parts of the user's archive are copied with their headers", () => {
    const custom = `MIME-Version: 1.0
Content-Type: multipart/mixed;
  boundary="BOUND"

preamble
--BOUND
Content-Type: text/cloud-config
Content-Transfer-Encoding: base64

aGk=
--BOUND
Content-Type: text/x-shellscript

--// not our boundary
--BOUND--
`;
    const text = rendered({ amiFamily: "AL2", custom });
    expect(parts(text).slice(0, 2)).toEqual([
      { headers: ["Content-Type: text/cloud-config", "Content-Transfer-Encoding: base64"], content: "aGk=" },
      { headers: ["Content-Type: text/x-shellscript"], content: "--// not our boundary" },
    ]);
    expect(parts(text)).toHaveLength(3);
  });

  it.each([
    ["no empty line", "MIME-Version: 1.0\nContent-Type: multipart/mixed"],
    ["no boundary", "Content-Type: multipart/mixed\n\n--x--"],
    ["not multipart", "Content-Type: text/plain\n\nhi"],
    ["no content type", "MIME-Version: 1.0\n\nhi"],
    ["a bad header", 'MIME-Version: 1.0\nboundary\nContent-Type: multipart/mixed; boundary="x"\n\n--x--'],
    ["no end", 'Content-Type: multipart/mixed; boundary="x"\n\n--x\n\nhi\n'],
  ])("04 §1.9 an archive with %s is refused", (_, custom) => {
    expect(failure({ amiFamily: "AL2", custom })).toBe("invalid-mime");
    expect(failure({ amiFamily: "AL2023", custom })).toBe("invalid-mime");
  });

  it("04 §9.3 an archive reads as it was written", () => {
    const written = [
      { headers: ["Content-Type: a/b"], content: "" },
      { headers: ["Content-Type: c/d", "X: y"], content: "one\n\n--//\ntwo" },
    ];
    expect(parts(writeMimeArchive(written))).toEqual(written);
  });
});

describe("AL2023", () => {
  const nodeConfig = (request: Partial<UserDataRequest>) => {
    const last = parts(rendered({ amiFamily: "AL2023", ...request })).at(-1);
    expect(last?.headers).toEqual(["Content-Type: application/node.eks.aws"]);
    expect(last?.content).toMatch(/^# /);
    return parseYaml(last?.content ?? "");
  };

  it("04 §1.9 the last part is a NodeConfig", () => {
    expect(nodeConfig({})).toEqual({
      apiVersion: "node.eks.aws/v1alpha1",
      kind: "NodeConfig",
      spec: {
        cluster: {
          name: "prod",
          apiServerEndpoint: "https://abc.eks.amazonaws.com",
          certificateAuthority: "Y2E=",
          cidr: "10.100.0.0/16",
        },
        kubelet: {
          config: { maxPods: 29, clusterDNS: ["10.100.0.10"], registerWithTaints: base.taints },
          flags: ['--node-labels="app=web,karpenter.sh/capacity-type=spot"'],
        },
      },
    });
  });

  it("04 §1.9 passes on every kubelet field, and RAID0", () => {
    const kubelet = { ...fullKubelet, cpuManagerPolicy: "static", shutdownGracePeriod: "1m" };
    const { spec } = nodeConfig({ kubelet, instanceStorePolicy: "RAID0", taints: [] });
    expect(spec.kubelet.config).toEqual(kubelet);
    expect(spec.instance).toEqual({ localStorage: { strategy: "RAID0" } });
  });

  it.each(["no", "on", "1_000", "0777", "12", "1:30"])(
    "04 §1.9 a name like %s stays a string in YAML 1.1, too",
    (name) => {
      const last = parts(rendered({ cluster: { ...base.cluster, name } })).at(-1)?.content ?? "";
      expect(parseYaml(last, { version: "1.1" }).spec.cluster.name).toBe(name);
    },
  );

  it("04 §1.9 without a CIDR the node could not boot", () => {
    const { cidr: _, ...cluster } = base.cluster;
    expect(failure({ cluster })).toBe("no-cluster-cidr");
    expect(failure({ cluster, amiFamily: "AL2" })).toBe("ok");
  });

  it.each([
    ["a mapping", "spec:\n  kubelet:\n    config:\n      maxPods: 5\n", "application/node.eks.aws"],
    ["only comments", "# nothing\n", "application/node.eks.aws"],
    ["a script", "#!/bin/bash\necho hi\n", `text/x-shellscript; charset="us-ascii"`],
    ["a list", "- a\n- b\n", `text/x-shellscript; charset="us-ascii"`],
    ["no YAML", "{ a: [\n", `text/x-shellscript; charset="us-ascii"`],
  ])("04 §1.9 custom data that is %s has its content type", (_, custom, type) => {
    const [first] = parts(rendered({ custom }));
    expect(first).toEqual({ headers: [`Content-Type: ${type}`], content: custom });
  });

  it("04 §9.7 the same settings in another order give the same text", () => {
    const entries = Object.entries(fullKubelet);
    const other = { kubelet: Object.fromEntries(entries.reverse()), labels: { app: "web", ...base.labels } };
    for (const amiFamily of ["AL2", "AL2023", "Bottlerocket", "Windows2022"] as const) {
      expect(rendered({ amiFamily, ...other })).toBe(rendered({ amiFamily, kubelet: fullKubelet }));
    }
  });
});

describe("Bottlerocket", () => {
  const settings = (request: Partial<UserDataRequest>) => {
    const document: unknown = parseToml(rendered({ amiFamily: "Bottlerocket", ...request }));
    return (document as { settings: Record<string, Record<string, Commands>> }).settings;
  };

  it("04 §1.9 writes the settings of Kubernetes", () => {
    const { podsPerCore: _, ...kubelet } = fullKubelet;
    expect(settings({ kubelet })).toEqual({
      kubernetes: {
        "api-server": "https://abc.eks.amazonaws.com",
        "cluster-certificate": "Y2E=",
        "cluster-name": "prod",
        "cluster-dns-ip": "10.0.0.53",
        "max-pods": 29,
        "system-reserved": { cpu: "100m", memory: "100Mi" },
        "kube-reserved": { cpu: "200m", memory: "200Mi" },
        "eviction-hard": { "memory.available": "5%", "nodefs.available": "10%" },
        "eviction-soft": { "memory.available": "10%" },
        "eviction-soft-grace-period": { "memory.available": "1m30s" },
        "eviction-max-pod-grace-period": 30,
        "image-gc-high-threshold-percent": "80",
        "image-gc-low-threshold-percent": "60",
        "cpu-cfs-quota-enforced": false,
        "node-labels": { app: "web", "karpenter.sh/capacity-type": "spot" },
        "node-taints": { team: ["a:NoSchedule"], "karpenter.sh/unregistered": [":NoExecute"] },
      },
    });
  });

  it("04 §1.9 keeps the user's settings, but for what Karpenter decides", () => {
    const custom = `
[settings.kubernetes]
cluster-name = "other"
log-level = 3
"registry-qps" = 10
made-up = 1
[settings.kubernetes.node-labels]
mine = "yes"
app = "mine"
[settings.kubernetes.node-taints]
mine = ["x:NoSchedule"]
[settings.kubernetes.eviction-hard]
"memory.available" = "20%"
[settings.ntp]
time-servers = ["169.254.169.123"]
[settings.metrics]
ratio = 1.0
send-metrics = false
[settings.autoscaling]
should-wait = true
`;
    const result = renderUserData({ ...base, amiFamily: "Bottlerocket", custom });
    if (result.kind === "error") throw new Error(result.message);
    expect(result.text).toContain("ratio = 1.0");
    expect(result.warnings).toEqual(["settings.kubernetes.made-up in userData is not known and is left out"]);
    const found = settings({ custom });
    expect(found).toMatchObject({
      ntp: { "time-servers": ["169.254.169.123"] },
      metrics: { ratio: 1, "send-metrics": false },
      autoscaling: { "should-wait": false },
      kubernetes: {
        "cluster-name": "prod",
        "log-level": 3,
        "registry-qps": 10,
        "node-labels": { mine: "yes", app: "web" },
        "node-taints": { team: ["a:NoSchedule"], "karpenter.sh/unregistered": [":NoExecute"] },
        "eviction-hard": { "memory.available": "20%" },
      },
    });
    expect(found["kubernetes"]).not.toHaveProperty("made-up");
  });

  it.each([
    "[settings",
    "settings = 1",
    "[settings]\nkubernetes = 1",
    '[settings.kubernetes]\nregistry-qps = "ten"',
    "[settings.kubernetes]\nallowed-unsafe-sysctls = [1]",
  ])("04 §1.9 %j is refused", (custom) => {
    expect(failure({ amiFamily: "Bottlerocket", custom })).toBe("invalid-toml");
  });

  it("04 §1.9 RAID0 adds a bootstrap command to the user's", () => {
    const custom = '[settings.bootstrap-commands.mine]\ncommands = [["true"]]\nmode = "once"\nessential = false\n';
    const commands = (bindsDefaultMounts: boolean) =>
      settings({ custom, instanceStorePolicy: "RAID0", bindsDefaultMounts })["bootstrap-commands"];
    expect(commands(true)).toEqual({
      mine: { commands: [["true"]], mode: "once", essential: false },
      "000-mount-instance-storage": {
        commands: [
          ["apiclient", "ephemeral-storage", "init"],
          ["apiclient", "ephemeral-storage", "bind"],
        ],
        essential: true,
        mode: "always",
      },
    });
    expect(commands(false)?.["000-mount-instance-storage"]?.commands[1]).toEqual(
      "apiclient ephemeral-storage bind --dirs /var/lib/containerd /var/lib/kubelet /var/log/pods".split(" "),
    );
  });
});

describe("Windows and Custom", () => {
  it.each(["Windows2019", "Windows2022", "Windows2025"] as const)("04 §1.9 %s is a PowerShell script", (amiFamily) => {
    expect(rendered({ amiFamily, custom: "Write-Host 'hi'" })).toBe(
      `<powershell>
Write-Host 'hi'
[string]$EKSBootstrapScriptFile = "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"
& $EKSBootstrapScriptFile -EKSClusterName 'prod' -APIServerEndpoint 'https://abc.eks.amazonaws.com' -Base64ClusterCA 'Y2E=' -KubeletExtraArgs '--node-labels="app=web,karpenter.sh/capacity-type=spot" --register-with-taints="team=a:NoSchedule,karpenter.sh/unregistered=:NoExecute" --max-pods=29' -DNSClusterIP '10.100.0.10'
</powershell>`,
    );
  });

  it("04 §1.9 a Custom image gets the user's text, untouched", () => {
    expect(rendered({ amiFamily: "Custom", custom: "a\r\nb" })).toBe("a\r\nb");
    expect(rendered({ amiFamily: "Custom" })).toBe("");
  });

  it("04 §1.10 a block that cannot be read is refused by every family that reads it", () => {
    const families: readonly AmiFamily[] = ["AL2", "AL2023", "Bottlerocket", "Windows2022"];
    for (const amiFamily of families) {
      expect(failure({ amiFamily, kubelet: { podsPerCore: "ten" } })).toBe("invalid-kubelet");
    }
  });
});
