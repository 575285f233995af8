//! The committed code is what the `.proto` files say. `UPDATE=1` writes it.

use std::{fs, path::Path};

const PROTOS: &[&str] = &[
    "plugin/controller.proto",
    "runtimecloud/v1/capacity_lease.proto",
    "runtimecloud/v1/capacity_target.proto",
    "runtimecloud/v1/common.proto",
    "runtimecloud/v1/environment.proto",
    "runtimecloud/v1/event.proto",
    "runtimecloud/v1/event_subscription.proto",
    "runtimecloud/v1/host.proto",
    "runtimecloud/v1/quota.proto",
    "runtimecloud/v1/service_account.proto",
    "runtimecloud/v1/token.proto",
    "runtimecloud/v1/worker.proto",
    "runtimecloud/v1/worker_operation.proto",
    "runtimecloud/v1/worker_pool.proto",
    "tfplugin6/tfplugin6.proto",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "UPDATE is a switch of this test alone")]
fn generated_code_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let out = tempfile::tempdir().unwrap();
    let descriptors = protox::compile(PROTOS, [root]).unwrap();
    tonic_prost_build::configure()
        .btree_map(".")
        .emit_rerun_if_changed(false)
        .out_dir(out.path())
        .compile_fds(descriptors.clone())
        .unwrap();
    // What the host's reflection service serves.
    fs::write(out.path().join("descriptors.bin"), prost::Message::encode_to_vec(&descriptors))
        .unwrap();
    let committed = root.join("src/gen");
    for entry in fs::read_dir(out.path()).unwrap() {
        let fresh = entry.unwrap().path();
        let target = committed.join(fresh.file_name().unwrap());
        let bytes = fs::read(&fresh).unwrap();
        if std::env::var("UPDATE").is_ok() {
            fs::write(&target, &bytes).unwrap();
        }
        assert!(
            fs::read(&target).is_ok_and(|old| old == bytes),
            "{} is stale: run `UPDATE=1 cargo test -p proto`",
            target.display()
        );
    }
}
