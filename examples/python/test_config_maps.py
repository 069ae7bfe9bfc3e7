import unittest

from server import Server


class ConfigMaps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = Server().__enter__()
        cls.addClassCleanup(cls.server.__exit__)

    def setUp(self):
        _, namespace = self.server.request("POST", "/api/v1/namespaces", {"metadata": {"generateName": "test-"}})
        self.path = f"/api/v1/namespaces/{namespace['metadata']['name']}/configmaps"

    def test_is_there_after_it_was_created(self):
        status, _ = self.server.request("POST", self.path, {"metadata": {"name": "first"}, "data": {"greeting": "hello"}})
        self.assertEqual(status, 201)
        status, found = self.server.request("GET", f"{self.path}/first")
        self.assertEqual((status, found["data"]), (200, {"greeting": "hello"}))

    def test_a_wrong_name_is_refused(self):
        status, refused = self.server.request("POST", self.path, {"metadata": {"name": "Not_A_Name"}})
        self.assertEqual((status, refused["reason"]), (422, "Invalid"))
