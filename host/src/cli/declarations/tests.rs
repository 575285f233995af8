//! Declarations, their faults, and their places.

use serde_json::json;

use super::*;

fn parse_text(text: &str) -> Result<Declarations, Failure> {
    parse(vec![Source::new("file.hcl".to_owned(), text)])
}

fn faults(text: &str) -> String {
    parse_text(text).unwrap_err().to_string()
}

const POOL: &str = r#"
worker_pool "dev/web" {
  size   = 3
  labels = { team = "a" }
  worker = {
    command   = ["run"]
    variables = { A = 1 }
    ports     = ["http", "admin"]
    shape     = { cpu = "0.5", memory = "1024Mi", gpus = 2 }
  }
  readiness = { http = { port = "http" }, timeout = "1500ms" }
  stop      = { grace = "1m30s" }
}
"#;

#[test]
fn a_pool_is_read_with_its_defaults() {
    let declared = parse_text(POOL).unwrap();
    let desired = &declared.all[0].desired;
    assert_eq!((desired.kind, &*desired.key), (Declared::WorkerPool, "dev/web"));
    assert_eq!(desired.labels["team"], "a");
    assert_eq!(
        serde_json::Value::Object(desired.spec.show()),
        json!({
            "size": 3,
            "worker": {
                "command": ["run"],
                "variables": {"A": "1"},
                "ports": ["admin", "http"],
                "shape": {"cpu": "500m", "memory": "1Gi", "gpus": "2"},
            },
            "readiness": {
                "http": {"port": "http", "path": "/"},
                "interval": "1s",
                "timeout": "1s500ms",
                "failure_threshold": 3,
            },
            "restart": {"delay": "1s", "delay_max": "1m", "healthy_after": "30s"},
            "stop": {"signal": "TERM", "grace": "1m30s"},
            "update": {"max_unavailable": 1},
            "deletion_protection": false,
        })
    );
}

#[test]
fn what_is_shown_reads_back_as_the_same() {
    let texts = [
        POOL,
        "capacity_target \"t\" {\n driver = { process = {} }\n capacity = { cpu = 2 }\n cordoned = true\n}",
        "quota \"q\" {\n limits = { cpu = { hard = \"2\", soft = 1 }, workers = { soft = 3 } }\n}",
        "environment \"e\" {\n quota = \"q\"\n variables = { A = \"b\" }\n target_selector = { x = \"y\" }\n}",
        "service_account \"s\" {\n role = \"admin\"\n description = \"d\"\n disabled = true\n}",
        "worker_pool \"w\" {\n environment = \"e\"\n size = 0\n worker = { command = [\"x\"] }\n readiness = { command = [\"y\"] }\n}",
    ];
    for text in texts {
        let first = &parse_text(text).unwrap().all[0].desired;
        let shown = json!({
            "kind": first.kind.code(),
            "name": first.key,
            "labels": first.labels,
            "spec": first.spec.show(),
        });
        let again = parse_text(&shown.to_string()).unwrap();
        let again = &again.all[0].desired;
        assert_eq!(again.spec.show(), first.spec.show());
        assert_eq!(
            (again.kind, &again.key, &again.labels),
            (first.kind, &first.key, &first.labels)
        );
    }
}

#[test]
fn all_faults_are_told_at_once_with_their_places() {
    let text = r#"
quotum "q" {
}
quota "q" {
  limits = { cpu = { hard = "lots" }, memory = "1Gi", workers = { firm = 3 } }
}
worker_pool "web" {
  sice = 3
  worker = { command = "sleep 1", ports = [1], shape = { cpu = [] } }
}
worker_pool "dev/web" {
  size        = 20000
  environment = "prod"
  worker      = { shape = {} }
  readiness   = { tcp = {}, http = { port = "x" }, interval = "10" }
  stop        = { grace = 10 }
  update      = { max_unavailable = 0 }
}
capacity_target "t" {
  driver = {}
}
environment "dev" {
  variables = { A = [], B = x }
  quota     = var.quota
  wrong     = f()
}
environment "dev" {
}
"#;
    insta::assert_snapshot!(faults(text), @r#"
    there are 25 faults in what is declared, and nothing was done
      file.hcl:2:1: `quotum`: there is no such kind; there are `capacity_lease`, `capacity_target`, `environment`, `event_subscription`, `quota`, `service_account`, `token`, `worker`, `worker_pool`
      file.hcl:5:29: `lots` is not an amount: it must be a number of zero or more, with a known suffix or none; write for example `500m` or `2`
      file.hcl:5:48: `memory` is an object, not a string
      file.hcl:5:67: `firm` is not known here; there are `borrowing`, `hard`, `lending`, `share`, `soft`
      file.hcl:7:1: `size` is missing; write for example `size = 3`
      file.hcl:7:13: the name of a worker pool is `ENVIRONMENT/NAME`, not `web`
      file.hcl:8:3: `sice` is not known here; did you mean `size`?
      file.hcl:9:24: `command` is a list of strings, not a string
      file.hcl:9:44: `ports` is a list of strings, not a number
      file.hcl:9:64: `cpu` is an amount such as "500m" or 2, not a list
      file.hcl:11:13: `dev/web` is not in the environment `prod`
      file.hcl:12:17: `size` is a whole number of 0 to 10000
      file.hcl:14:17: `command` is missing; write for example `command = ["program", "argument"]`
      file.hcl:15:17: `readiness` has exactly one of `http`, `tcp` and `command`
      file.hcl:15:25: `port` is missing; write for example `port = "main"`
      file.hcl:15:63: `10` is not a length of time: each number needs a unit of `h`, `m`, `s`, `ms`, `us` or `ns`; write for example `10s` or `1m30s`
      file.hcl:16:27: `grace` is a length of time such as "10s", not a number
      file.hcl:17:37: `max_unavailable` is a whole number of 1 to 10000
      file.hcl:19:1: `driver` names one driver; write for example `driver = { process = {} }`
      file.hcl:23:21: `A` is a string, not a list
      file.hcl:23:29: `x` is a reference, and only plain values can stand here
      file.hcl:24:15: this is a reference, and only plain values can stand here
      file.hcl:25:3: `wrong` is not known here; there are `deletion_protection`, `description`, `labels`, `quota`, `target_selector`, `variables`
      file.hcl:25:15: `f` is a function, and only plain values can stand here
      file.hcl:27:13: environment `dev` is declared twice
    "#);
}

#[test]
fn declarations_come_in_the_order_in_which_they_need_each_other() {
    let declared = parse_text(
        "worker_pool \"a/b\" {\n size = 1\n worker = { command = [\"x\"] }\n}\nenvironment \"a\" {\n}\nquota \"q\" {\n}",
    )
    .unwrap();
    let kinds: Vec<_> = declared.all.iter().map(|one| one.desired.kind).collect();
    assert_eq!(kinds, [Declared::Quota, Declared::Environment, Declared::WorkerPool]);
}

#[test]
fn what_the_host_finds_fault_with_is_shown_in_the_file() {
    let declared = parse_text(POOL).unwrap();
    let details = [
        "spec.worker.ports: too many",
        "spec.readiness.http.port: unknown",
        "spec.worker.shape.cpu: too small",
        "labels: too many",
        "name: taken",
        "options: odd",
    ];
    let failure = Failure {
        details: details.map(str::to_owned).to_vec(),
        ..Failure::new(Exit::Usage, "refused")
    };
    let located = declared.locate(&declared.all[0], failure);
    assert_eq!(
        located.details,
        [
            "file.hcl:8:5: spec.worker.ports: too many",
            "file.hcl:11:26: spec.readiness.http.port: unknown",
            "file.hcl:9:5: spec.worker.shape.cpu: too small",
            "file.hcl:4:3: labels: too many",
            "file.hcl:2:13: name: taken",
            "options: odd",
        ]
    );
}
