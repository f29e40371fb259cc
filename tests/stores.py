"""Object stores for tests: one in memory, and one that speaks S3 over HTTP on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import boto3
import pytest
from moto.server import ThreadedMotoServer
from s3fs import S3FileSystem

BUCKET = "runs"


@contextmanager
def serve_s3() -> Iterator[str]:
    """Serve an empty bucket, let this process and its children find the server, and return the bucket's address."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "anyone",
        "AWS_SECRET_ACCESS_KEY": "anything",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setitem(os.environ, name, value)
        boto3.client("s3").create_bucket(Bucket=BUCKET)
        try:
            yield f"s3://{BUCKET}"
        finally:
            S3FileSystem.clear_instance_cache()
            server.stop()
