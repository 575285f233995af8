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
  name   = "seen-pool-local"
  driver = { process = {} }
  labels = { seen-pool = "yes" }
}

resource "runtimecloud_environment" "dev" {
  name            = "seen-pool-dev"
  target_selector = { seen-pool = "yes" }
  depends_on      = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 2

  worker = {
    command = ["sh", "-c", "exec python3 -m http.server --bind 127.0.0.1 $PORT_HTTP"]
    ports   = ["http"]
  }

  readiness = { http = { port = "http" } }
}

# Read again when the pool changes.
data "runtimecloud_worker_pool" "web" {
  id = runtimecloud_worker_pool.web.id
}

output "addresses" {
  value = [for worker in data.runtimecloud_worker_pool.web.workers :
  "http://127.0.0.1:${worker.ports["http"]}/"]
}
