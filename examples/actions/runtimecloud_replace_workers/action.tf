terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name   = "replace-local"
  driver = { process = {} }
}

resource "runtimecloud_environment" "dev" {
  name       = "replace-dev"
  depends_on = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 2
  worker      = { command = ["sleep", "3600"] }
}

# On demand: terraform apply -invoke=action.runtimecloud_replace_workers.web
action "runtimecloud_replace_workers" "web" {
  config {
    worker_pool = "${runtimecloud_environment.dev.name}/${runtimecloud_worker_pool.web.name}"
    parallel    = 1
  }
}
