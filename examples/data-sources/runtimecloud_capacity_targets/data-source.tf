terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name     = "seen-targets-local"
  driver   = { process = {} }
  capacity = { cpu = "2" }
  labels   = { seen = "targets" }
}

# Read again when the target changes.
data "runtimecloud_capacity_targets" "seen" {
  labels     = { seen = "targets" }
  depends_on = [runtimecloud_capacity_target.local]
}

output "capacity" {
  value = { for target in data.runtimecloud_capacity_targets.seen.capacity_targets : target.name => target.capacity }
}
