import { expect, it } from "vitest";
import { describeKubectl } from "./embedded.ts";
import { configMap, deployment, pod } from "./manifests.ts";

describeKubectl("objects", ({ k }) => {
  it("05 §1 creates what kubectl sends as protobuf", async () => {
    expect(await k.ok("create namespace shop")).toBe("namespace/shop created\n");
    expect(await k.ok("create deployment web --image=nginx:1 --replicas=3 -n shop")).toBe(
      "deployment.apps/web created\n",
    );
    expect(await k.ok("create configmap c --from-literal=a=b")).toBe("configmap/c created\n");
    expect(await k.ok("create secret generic s --from-literal=password=x")).toBe("secret/s created\n");
    expect(await k.ok("create serviceaccount robot")).toBe("serviceaccount/robot created\n");
    expect(await k.ok("create token robot")).toMatch(/^\S{32,}$/);
    expect(await k.ok("create service clusterip web --tcp=80:8080")).toBe("service/web created\n");
    expect(await k.ok("create quota q --hard=pods=10,cpu=4")).toBe("resourcequota/q created\n");
    expect(await k.ok("create priorityclass high --value=1000")).toContain(
      "priorityclass.scheduling.k8s.io/high created",
    );
    expect(await k.ok("create job j --image=busybox -- true")).toBe("job.batch/j created\n");
    expect(await k.ok("create cronjob cj --image=busybox --schedule='*/5 * * * *' -- true")).toContain("created");
    expect(await k.ok("create pdb web --selector=app=web --min-available=50%")).toContain("created");
    expect(await k.ok("create role r --verb=get --resource=pods")).toContain(
      "role.rbac.authorization.k8s.io/r created",
    );
    expect(await k.ok("create ingress i --rule=example.com/=web:80")).toContain("created");
  });

  it("05 §3 stored them with what was said", async () => {
    expect(
      await k.ok("get deployment web -n shop -o jsonpath={.spec.replicas}/{.spec.template.spec.containers[0].image}"),
    ).toBe("3/nginx:1");
    expect(await k.ok("get pdb web -o jsonpath={.spec.minAvailable}")).toBe("50%");
    expect(await k.ok("get secret s -o jsonpath={.data.password}")).toBe("eA==");
    expect(await k.ok("get cronjob cj -o jsonpath={.spec.schedule}")).toBe("*/5 * * * *");
    expect(await k.ok("get quota q -o jsonpath={.spec.hard.cpu}")).toBe("4");
    expect(await k.ok("get job j -o jsonpath={.spec.template.spec.containers[0].command[0]}")).toBe("true");
    expect(await k.ok("get service web -o jsonpath={.spec.ports[0].targetPort}")).toBe("8080");
  });

  it("05 §1 runs a pod", async () => {
    expect(await k.ok("run p --image=nginx:1 --labels=app=p --env=A=1")).toBe("pod/p created\n");
    expect(await k.ok("get pod p")).toMatch(/^NAME +READY +STATUS +RESTARTS +AGE\np +0\/1 +Pending +0 +\d+s\n$/);
    expect(await k.ok("get pod p -o wide")).toMatch(/NOMINATED NODE +READINESS GATES/);
  });

  it("05 §1 prints in every format", async () => {
    expect(await k.ok("get pods -o name")).toBe("pod/p\n");
    expect(await k.ok("get pod p -o yaml")).toMatch(/^apiVersion: v1\nkind: Pod\n/);
    expect(JSON.parse(await k.ok("get pods -o json"))).toMatchObject({ kind: "List", items: [{ kind: "Pod" }] });
    expect(await k.ok("get pods -o custom-columns=NAME:.metadata.name,IMAGE:.spec.containers[*].image")).toMatch(
      /p +nginx:1/,
    );
    expect(await k.ok("get pods --show-labels")).toMatch(/app=p\n$/);
    expect(await k.ok("get pods -L app")).toMatch(/AGE +APP\n/);
    expect(await k.ok("get pods -A --sort-by=.metadata.creationTimestamp")).toMatch(/^NAMESPACE +NAME/);
    expect(await k.ok("get pods --no-headers")).toMatch(/^p /);
    expect(await k.ok("get all")).toContain("cronjob.batch/cj");
    expect(await k.ok("get pods -o go-template='{{len .items}}'")).toBe("1");
    expect(await k.ok("get cm,secret,sa,svc,quota,pc,ing,role")).toContain("priorityclass.scheduling.k8s.io/high");
  });

  it("05 §3 selects by labels and fields", async () => {
    expect(await k.ok("get pods -l app=p -o name")).toBe("pod/p\n");
    expect(await k.ok("get pods -l 'app in (p,q),!other' -o name")).toBe("pod/p\n");
    expect(await k.ok("get pods -l app!=p -o name")).toBe("");
    expect(await k.ok("get pods --field-selector=status.phase=Pending,metadata.name!=q -o name")).toBe("pod/p\n");
    expect(await k.ok("get pods --field-selector=spec.nodeName=node-1 -o name")).toBe("");
    expect(await k.fails("get pods --field-selector=spec.hostname=x")).toContain("field label not supported");
    expect(await k.ok("get configmaps --chunk-size=1 -A -o name")).toContain("configmap/c");
  });

  it("05 §1 applies: creates, leaves alone, changes", async () => {
    const path = k.file("api.yaml", deployment());
    expect(await k.ok(`apply -f ${path}`)).toBe("deployment.apps/api created\n");
    expect(await k.ok(`apply -f ${path} --validate=strict`)).toBe("deployment.apps/api unchanged\n");
    expect(await k.ok("set image deployment/api api=nginx:2")).toBe("deployment.apps/api image updated\n");
    expect(await k.ok("set resources deployment/api --limits=cpu=1")).toContain("resource requirements updated");
    expect(await k.ok("set env deployment/api A=1")).toContain("env updated");
    expect(await k.ok(`apply -f ${path}`)).toBe("deployment.apps/api configured\n");
    expect(await k.ok("get deploy api -o jsonpath={.spec.template.spec.containers[0].image}")).toBe("nginx:1");
    expect(await k.ok("apply view-last-applied deployment/api")).toContain("image: nginx:1");
  });

  it("05 §1 patches in three ways", async () => {
    const strategic = `{"spec":{"template":{"spec":{"containers":[{"name":"api","image":"nginx:3"}]}}}}`;
    expect(await k.ok(`patch deployment api -p '${strategic}'`)).toBe("deployment.apps/api patched\n");
    expect(await k.ok(`patch deployment api --type=merge -p '{"metadata":{"labels":{"x":"y"}}}'`)).toContain("patched");
    expect(await k.ok(`patch deployment api --type=json -p '[{"op":"remove","path":"/metadata/labels/x"}]'`)).toContain(
      "patched",
    );
    expect(await k.ok("get deploy api -o jsonpath={.spec.template.spec.containers[0].image},{.metadata.labels}")).toBe(
      `nginx:3,{"app":"api"}`,
    );
    expect(await k.ok("patch deploy api -p {}")).toBe("deployment.apps/api patched (no change)\n");
    expect(
      await k.fails(`patch deployment api --type=json -p '[{"op":"test","path":"/metadata/name","value":"z"}]'`),
    ).not.toBe("");
  });

  it("05 §1 scales, also with a condition", async () => {
    expect(await k.ok("scale deployment api --replicas=5")).toBe("deployment.apps/api scaled\n");
    expect(await k.ok("get deploy api")).toMatch(/api +0\/5/);
    expect(await k.fails("scale deployment api --current-replicas=4 --replicas=1")).toContain(
      "Expected replicas to be 4, was 5",
    );
    expect(await k.ok("get --raw /apis/apps/v1/namespaces/default/deployments/api/scale")).toContain('"kind":"Scale"');
    expect(
      await k.ok('patch deployment api --subresource=scale --type=merge -p \'{"spec":{"replicas":2}}\''),
    ).toContain("patched");
  });

  it("05 §1 replaces and creates from files", async () => {
    const path = k.file("cm.yaml", configMap());
    expect(await k.ok(`create -f ${path}`)).toBe("configmap/settings created\n");
    expect(await k.fails(`create -f ${path}`)).toContain("already exists");
    expect(await k.ok("replace -f -", { stdin: configMap({ a: "7" }) })).toBe("configmap/settings replaced\n");
    expect(await k.ok("get cm settings -o jsonpath={.data.a}")).toBe("7");
    expect(await k.ok(`replace --force -f ${path}`)).toContain("replaced");
    expect(await k.fails("replace -f -", { stdin: configMap({ name: "absent" }) })).toContain("not found");
  });

  it("05 §1 edits", async () => {
    const editor = k.file("editor.sh", '#!/bin/sh\nsed -i s/\\"2\\"/\\"3\\"/ "$1"\n');
    const edited = await k.ok("edit configmap settings", { env: { KUBE_EDITOR: `sh ${editor}` } });
    expect(edited).toBe("configmap/settings edited\n");
    expect(await k.ok("get cm settings -o jsonpath={.data.b}")).toBe("3");
  });

  it("05 §1 labels and annotates", async () => {
    expect(await k.ok("label pod p tier=web")).toBe("pod/p labeled\n");
    expect(await k.fails("label pod p tier=db")).toContain("already has a value");
    expect(await k.ok("label pod p tier=db --overwrite")).toBe("pod/p labeled\n");
    expect(await k.ok("label pod p tier-")).toBe("pod/p unlabeled\n");
    expect(await k.ok("annotate pod p note=hello")).toBe("pod/p annotated\n");
    expect(await k.ok("annotate pod p note-")).toBe("pod/p annotated\n");
    expect(await k.ok("label pods --all seen=yes")).toBe("pod/p labeled\n");
  });

  it("05 §3 tries without doing", async () => {
    expect(await k.ok("create deployment dry --image=x --dry-run=server -o name")).toBe("deployment.apps/dry\n");
    expect(await k.ok("apply --dry-run=server -f -", { stdin: configMap({ name: "dry" }) })).toBe(
      "configmap/dry created (server dry run)\n",
    );
    expect(await k.ok("delete pod p --dry-run=server")).toContain("deleted (server dry run)");
    expect(await k.ok("get deploy,cm -o name")).not.toContain("dry");
    expect(await k.ok("create deployment dry --image=x --dry-run=client -o yaml")).toContain("kind: Deployment");
  });

  it("05 §3 refuses unknown fields when asked to, and warns or drops otherwise", async () => {
    const odd = `${configMap({ name: "odd" })}dota: {}\n`;
    expect(await k.fails("apply -f -", { stdin: odd })).toContain('unknown field "dota"');
    expect((await k.run("apply --validate=warn -f -", { stdin: odd })).stderr).toContain(
      'Warning: unknown field "dota"',
    );
    expect((await k.run("apply --validate=ignore -f -", { stdin: odd })).stderr).toBe("");
  });

  it("05 §3 says what is wrong with an object", async () => {
    const nameless = pod({ name: "UPPER" });
    expect(await k.fails("apply -f -", { stdin: nameless })).toMatch(
      /The Pod "UPPER" is invalid: metadata.name: Invalid value: "UPPER"/,
    );
    expect(await k.fails("create deployment web --image=x -n nowhere")).toContain('namespaces "nowhere" not found');
  });

  it("05 §1 describes", async () => {
    expect(await k.ok("describe pod p")).toMatch(/Name: +p\n[\s\S]*Events: +<none>/);
    expect(await k.ok("describe deployment api")).toContain("Replicas:               2 desired");
    expect(await k.ok("describe configmap settings")).toContain("Data\n====");
    expect(await k.ok("describe job j")).toContain("Parallelism:      1");
    expect(await k.ok("describe pdb web")).toContain("Min available:  50%");
    expect(await k.ok("describe namespace default")).toContain("Status:       Active");
    expect(await k.ok("describe service web")).toContain("TargetPort:");
    expect(await k.ok("describe cronjob cj")).toContain("Schedule:");
  });

  it("05 §1 deletes", async () => {
    expect(await k.ok("delete configmap c")).toBe('configmap "c" deleted\n');
    expect(await k.fails("delete configmap c")).toContain('configmaps "c" not found');
    expect(await k.ok("delete configmap c --ignore-not-found")).toBe("");
    expect(await k.ok("delete pod p --now")).toContain('pod "p" deleted');
    expect(await k.ok("delete deployment api --cascade=orphan --wait=false")).toContain(
      'deployment.apps "api" deleted',
    );
    expect(await k.ok("delete secret --all")).toContain('secret "s" deleted');
    expect(await k.ok("delete cm -l none=such")).toBe("No resources found\n");
    expect(await k.ok("delete service/web ingress/i")).toMatch(/service "web" deleted\n.*"i" deleted\n/);
  });
});
