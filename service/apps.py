from django.apps import AppConfig


class Service(AppConfig):
    name = "service"
