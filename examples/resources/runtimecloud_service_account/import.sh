# By name, or by id.
terraform import runtimecloud_service_account.ci account-ci
