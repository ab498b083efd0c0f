# The platform of the shop.

terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
    random = {
      source = "hashicorp/random"
    }
  }

  backend "s3" {
    bucket = "shop-state"
    key    = "platform.tfstate"
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = local.tags
  }
}

provider "aws" {
  alias  = "us"
  region = "us-east-1"
}

variable "region" {
  description = "Where everything runs."
  type        = string
  default     = "eu-west-1"

  validation {
    condition     = can(regex("^eu-", var.region))
    error_message = "Only in Europe: ${var.region}."
  }
}

# How many zones are used.
variable "zones" {
  type    = list(string)
  default = ["a", "b"]
}

variable "instance" {
  type = object({
    type  = string
    count = optional(number, 1)
  })
  sensitive = true
}

locals {
  # Prefix of all names.
  name = "shop-${terraform.workspace}"
  tags = merge(local.base_tags, {
    Name   = local.name
    Region = var.region
  })
  base_tags = { team = "platform" }
  subnets   = { for zone in var.zones : zone => cidrsubnet(module.vpc.cidr, 8, index(var.zones, zone)) }
  public    = [for id, subnet in module.vpc.subnets : subnet.id if subnet.public]
}

data "aws_ami" "ubuntu" {
  most_recent = true
  owners      = [data.aws_caller_identity.current.account_id]

  filter {
    name   = "name"
    values = ["ubuntu-*"]
  }
}

data "aws_caller_identity" "current" {}

/*
 * The network.
 */
module "vpc" {
  source  = "./modules/vpc"
  name    = local.name
  zones   = var.zones
  subnets = local.subnets

  providers = {
    aws = aws.us
  }
}

module "registry" {
  source     = "terraform-aws-modules/ecr/aws"
  version    = "1.6.0"
  depends_on = [module.vpc, aws_iam_role.web]
}

// The role of the web servers.
resource "aws_iam_role" "web" {
  name               = "${local.name}-web"
  assume_role_policy = data.aws_iam_policy_document.assume.json
}

data "aws_iam_policy_document" "assume" {
  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["ec2.amazonaws.com"]
    }
  }
}

resource "aws_security_group" "web" {
  vpc_id = module.vpc.id

  dynamic "ingress" {
    for_each = toset(var.ports)
    content {
      from_port   = ingress.value
      to_port     = ingress.value
      protocol    = "tcp"
      cidr_blocks = [module.vpc.cidr]
    }
  }

  lifecycle {
    create_before_destroy = true
    ignore_changes        = [tags]
  }
}

resource "aws_instance" "web" {
  count                  = var.instance.count
  ami                    = data.aws_ami.ubuntu.id
  instance_type          = var.instance.type
  subnet_id              = element(module.vpc.subnet_ids, count.index)
  vpc_security_group_ids = [aws_security_group.web.id]
  iam_instance_profile   = aws_iam_role.web.name
  user_data              = templatefile("${path.module}/user_data.sh", { region = var.region, peers = aws_instance.peer[*].private_ip })

  provisioner "local-exec" {
    command = "echo ${self.public_ip} ${each.key}"
  }

  tags = local.tags
}

resource "aws_instance" "peer" {
  for_each      = local.subnets
  ami           = data.aws_ami.ubuntu.id
  subnet_id     = each.value
  instance_type = var.zones == [] ? "t3.small" : local.name
}

output "addresses" {
  description = "Public addresses."
  value       = aws_instance.web[*].public_ip
}

output "vpc" {
  value = module.vpc
}

moved {
  from = aws_instance.old
  to   = aws_instance.web
}

check "health" {
  data "http" "health" {
    url = "https://${aws_instance.web[0].public_dns}/health"
  }

  assert {
    condition     = data.http.health.status_code == 200
    error_message = "unhealthy"
  }
}
