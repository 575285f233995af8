terraform {
  required_providers {
    runtimecloud = {
      source = "runtimecloud/runtimecloud"
    }
  }
}

# The endpoint and the token come from RUNTIMECLOUD_ENDPOINT and RUNTIMECLOUD_TOKEN.
provider "runtimecloud" {}

# Given in TF_VAR_deploy_secret. An ephemeral resource that makes passwords and keeps them in a vault will
# do as well; in no case is the secret in a plan or in the state.
variable "deploy_secret" {
  type      = string
  sensitive = true
  ephemeral = true
}

resource "runtimecloud_service_account" "ci" {
  name = "token-ci"
  role = "editor"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account.ci.name
  name            = "deploy"
  expires_at      = "2100-01-01T00:00:00Z"

  # To rotate it, give another secret, and a `secret_wo_version` that differs from the one before.
  secret_wo = var.deploy_secret
}
