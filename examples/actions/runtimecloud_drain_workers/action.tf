terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name   = "drain-local"
  driver = { process = {} }
}

resource "runtimecloud_environment" "dev" {
  name       = "drain-dev"
  depends_on = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 2
  worker      = { command = ["sleep", "3600"] }
}

# On demand: terraform apply -invoke=action.runtimecloud_drain_workers.web
action "runtimecloud_drain_workers" "web" {
  config {
    worker_pool = runtimecloud_worker_pool.web.id
    min_ready   = 1
    grace       = "30s"
    timeout     = "10m"
  }
}
