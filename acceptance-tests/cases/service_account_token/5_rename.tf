resource "runtimecloud_service_account" "ci" {
  name = "ci"
  role = "editor"
}

resource "runtimecloud_service_account_token" "deploy" {
  service_account = runtimecloud_service_account.ci.name
  name            = "other"
  secret_wo       = "the-second-secret-of-32-characters"
  labels          = { team = "a" }
}
