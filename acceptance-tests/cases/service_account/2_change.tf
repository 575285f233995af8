resource "runtimecloud_service_account" "ci" {
  name        = "ci"
  role        = "editor"
  description = "Deploys."
  disabled    = true
  labels      = { team = "a" }
}

data "runtimecloud_service_account" "ci" {
  name       = "ci"
  depends_on = [runtimecloud_service_account.ci]
}

output "role" {
  value = data.runtimecloud_service_account.ci.role
}
