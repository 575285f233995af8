terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

provider "runtimecloud" {}

resource "runtimecloud_capacity_target" "local" {
  name   = "restart-local"
  driver = { process = {} }
}

resource "runtimecloud_environment" "dev" {
  name       = "restart-dev"
  depends_on = [runtimecloud_capacity_target.local]
}

resource "runtimecloud_worker_pool" "web" {
  name        = "web"
  environment = runtimecloud_environment.dev.name
  size        = 2
  worker      = { command = ["sleep", "3600"] }
}

# What the workers read when they start. Whenever it changes, they are restarted.
resource "terraform_data" "settings" {
  input = { greeting = "good morning" }

  lifecycle {
    action_trigger {
      events  = [after_create, after_update]
      actions = [action.runtimecloud_restart_workers.web]
    }
  }
}

action "runtimecloud_restart_workers" "web" {
  config {
    worker_pool = runtimecloud_worker_pool.web.id
    parallel    = 2
  }
}
