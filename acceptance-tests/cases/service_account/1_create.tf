resource "runtimecloud_service_account" "ci" {
  name = "ci"
  role = "viewer"
}
