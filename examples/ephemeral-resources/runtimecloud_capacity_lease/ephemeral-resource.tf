terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

resource "runtimecloud_quota" "team" {
  name   = "run-team"
  limits = { cpu = { hard = "4" } }
}

resource "runtimecloud_environment" "dev" {
  name  = "run-dev"
  quota = runtimecloud_quota.team.name
}

# Granted when the run needs it, renewed while the work below goes on, and released after it. The id of
# the environment, unlike its name, is not known before it exists.
ephemeral "runtimecloud_capacity_lease" "migration" {
  environment = runtimecloud_environment.dev.id
  amounts     = { cpu = "2" }
  purpose     = "a migration that must not run twice at a time"
  wait        = "10m"
}

resource "terraform_data" "migration" {
  provisioner "local-exec" {
    command = "echo holding the lease of fencing token $FENCING_TOKEN"
    environment = {
      FENCING_TOKEN = ephemeral.runtimecloud_capacity_lease.migration.fencing_token
    }
  }
}
