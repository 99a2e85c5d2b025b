"""Who may use `serve`: tokens in a header or before the path, TLS, browsers, addresses of other
machines."""

import os
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request

from service import SCALE, Service
from warpwright_environment import ConnectionLost, Environment, EnvironmentFailure

TOKEN = "a-token-of-more-than-16-characters"


class Access(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def private(self, name, text):
        with open(self.path(name), "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(text)
        return self.path(name)

    def certificate(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                        "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", self.path("key.pem"), "-out", self.path("cert.pem")], check=True, stderr=subprocess.PIPE)
        os.chmod(self.path("key.pem"), 0o600)
        return ["--cert", self.path("cert.pem"), "--key", self.path("key.pem")]

    def test_a_token_is_shown_in_a_header_or_before_the_path(self):
        with Service("--token-file", self.private("tokens", f"ann {TOKEN}\n")) as service:
            self.assertEqual(len(Environment(service.url, token=TOKEN).tasks()), 2)
            with Environment(f"{service.url}/t/{TOKEN}") as without_header:
                self.assertEqual(without_header.reset(task_id=SCALE).observation["task_id"], SCALE)
            for wrong in (None, "another-token-of-more-than-16-characters"):
                with self.assertRaises(EnvironmentFailure) as refused:
                    Environment(service.url, token=wrong).tasks()
                self.assertEqual(refused.exception.code, "401")
            with self.assertRaises(ConnectionLost):
                Environment(service.url, patience_s=0).reset(task_id=SCALE)

    def test_tls_with_an_authority_of_its_own(self):
        with Service(*self.certificate(), "--token-file", self.private("tokens", TOKEN + "\n")) as service:
            self.assertTrue(service.url.startswith("https://"))
            with Environment(service.url, token=TOKEN, ca=self.path("cert.pem")) as environment:
                self.assertEqual(environment.get("/health"), {"status": "healthy"})
                self.assertEqual(environment.reset(task_id=SCALE).observation["task_id"], SCALE)
                environment.drop()
                self.assertEqual(environment.state()["task_id"], SCALE)
            with self.assertRaises(ConnectionLost):  # an authority that is not known
                Environment(service.url, token=TOKEN, patience_s=0).reset(task_id=SCALE)

    def test_pages_of_browsers_are_refused(self):
        with Service() as service:
            request = urllib.request.Request(service.url + "/metadata", headers={"Origin": "http://evil.example"})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            self.assertEqual(refused.exception.code, 403)

    def test_other_machines_need_tls_and_tokens(self):
        for options in ([], ["--token-file", self.private("tokens", TOKEN + "\n")], self.certificate()):
            with self.assertRaisesRegex(RuntimeError, "other machines can reach"):
                Service("--listen", "0.0.0.0:0", *options)

    def test_secrets_that_others_may_read_are_refused(self):
        tokens = self.private("tokens", TOKEN + "\n")
        os.chmod(tokens, 0o644)
        with self.assertRaisesRegex(RuntimeError, "chmod"):
            Service("--token-file", tokens)


if __name__ == "__main__":
    unittest.main()
