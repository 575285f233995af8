resource "runtimecloud_service_account" "ci" {
  name = "builds"
  role = "editor"
}
