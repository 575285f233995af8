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
  name   = "seen-workers-local"
  driver = { process = {} }
  labels = { seen-workers = "yes" }
}

resource "runtimecloud_environment" "dev" {
  name            = "seen-workers-dev"
  target_selector = { seen-workers = "yes" }
  depends_on      = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 2
  worker      = { command = ["sleep", "3600"] }
}

# Read again when the pool changes.
data "runtimecloud_workers" "ready" {
  worker_pool = runtimecloud_worker_pool.web.id
  ready       = true
  limit       = 100
}

output "targets" {
  value = distinct(data.runtimecloud_workers.ready.workers[*].capacity_target)
}
