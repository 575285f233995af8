//! Whatever a folder holds: what can be read is used, the rest is named, and all of it ends.

use driftgate::{Checked, Configuration, Limits, check_stream, propose};
use std::{fs, path::Path};

/// A report on drift of `size` in `t_x.n`, with what the configuration makes of it.
fn check(module: &str, config: &Path) -> Checked {
    let entry = |before: u32, after: u32| {
        format!(
            r#"{{"address":"{module}t_x.n","module_address":"{}","mode":"managed","type":"t_x","name":"n","change":{{"actions":["update"],"before":{{"size":{before}}},"after":{{"size":{after}}},"after_unknown":{{}},"before_sensitive":{{}},"after_sensitive":{{}}}}}}"#,
            module.trim_end_matches('.')
        )
    };
    let plan = format!(
        r#"{{"format_version":"1.2","resource_drift":[{}],"resource_changes":[{}]}}"#,
        entry(1, 2),
        entry(2, 1)
    );
    let mut checked = check_stream(plan.as_bytes(), Limits::STANDARD).unwrap();
    let configuration = Configuration::load(config).unwrap();
    propose(&mut checked.report, &configuration, &checked.secrets);
    checked
}

fn reason(checked: &Checked) -> String {
    let proposals = &checked.report.findings[0].proposals;
    proposals.iter().flat_map(|it| &it.refusals).map(|it| it.reason.clone()).collect()
}

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const BLOCK: &str = "resource \"t_x\" \"n\" {\n  size = 1\n}\n";

fn calls(source: &str, names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("module \"{name}\" {{\n  source = \"{source}\"\n}}\n"))
        .collect()
}

#[test]
fn what_is_called_as_a_file_but_is_none_is_passed_over_or_named() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &[("folder.tf/x", ""), ("main.tf", BLOCK)]);
    assert!(check("", folder.path()).report.patch.unwrap().contains("+  size = 2"));
    fs::remove_file(folder.path().join("main.tf")).unwrap();
    assert_eq!(reason(&check("", folder.path())), "the block is not in the configuration");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", folder.path().join("main.tf")).unwrap();
        let reason = reason(&check("", folder.path()));
        assert!(reason.contains("main.tf was left out: it cannot be read"), "{reason}");
    }
}

#[test]
fn modules_that_call_themselves_end() {
    let folder = tempfile::tempdir().unwrap();
    for names in [["x", "x", "x"], ["x", "y", "z"]] {
        write(
            folder.path(),
            &[("main.tf", &calls("./a", &names)), ("a/main.tf", &calls("../a", &names))],
        );
        assert!(reason(&check("module.x.module.x.", folder.path())).contains("its module"));
    }
}

#[test]
fn too_many_calls_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    for names in [["x", "x", "x"], ["x", "y", "z"]] {
        for depth in 0..16 {
            let below = if depth == 0 { "./1".to_owned() } else { format!("../{}", depth + 1) };
            let name = if depth == 0 { "main.tf".to_owned() } else { format!("{depth}/main.tf") };
            write(folder.path(), &[(&name, &(calls(&below, &names) + BLOCK))]);
        }
        write(folder.path(), &[("16/main.tf", BLOCK)]);
        let reason = reason(&check("", folder.path()));
        assert_eq!(reason.contains("more than 10000 module calls"), names[1] == "y", "{reason}");
    }
}
