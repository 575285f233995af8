# In a file `NAME.tfquery.hcl`, for `terraform query` (1.14 or newer).
list "runtimecloud_service_account_token" "ci" {
  provider = runtimecloud

  config {
    service_account = "ci"
  }
}
