"""What file systems refuse, as Java says it, and what helps."""

from __future__ import annotations

import pytest

from hivesql_executor.files.refusals import reason_and_remedy, refusal_of

_CALLED = "An error occurred while calling o1.write.\n: "
_OF_AWS = "software.amazon.awssdk.services.s3.model.S3Exception: (Service: S3, Status Code: 403)"
_SIMPLE = "SimpleAWSCredentialsProvider: No AWS credentials in the Hadoop configuration"
REPORTS = {
    "a list that is denied": (
        f"java.nio.file.AccessDeniedException: s3a://b/t: listObjects() on s3a://b/t: {_OF_AWS}",
        "Give yourself the right to it",
    ),
    "a write that is denied, which names the key alone": (
        f"java.nio.file.AccessDeniedException: t/x: Writing Object on t/x: {_OF_AWS}:AccessDenied",
        "Give yourself the right to it",
    ),
    "a wrong secret": (
        f"java.nio.file.AccessDeniedException: t/x: PUT: {_OF_AWS}:SignatureDoesNotMatch",
        "Correct the credentials",
    ),
    "keys whose time is over": (
        f"java.nio.file.AccessDeniedException: t/x: PUT: {_OF_AWS}:ExpiredToken",
        "Renew the credentials",
    ),
    "the same, said otherwise": (
        f"org.apache.hadoop.fs.s3a.AWSBadRequestException: list on s3a://b/t: {_OF_AWS}:"
        "ExpiredToken: (Service: S3, Status Code: 400)",
        "Renew the credentials",
    ),
    "a wrong region": (
        f"org.apache.hadoop.fs.s3a.AWSBadRequestException: list on s3a://b/t: {_OF_AWS}:"
        "AuthorizationHeaderMalformed: the region 'us-east-1' is wrong",
        "Set fs.s3a.endpoint.region to the bucket's region",
    ),
    "a request that is wrong otherwise": (
        f"org.apache.hadoop.fs.s3a.AWSBadRequestException: PUT on s3a://b/t: {_OF_AWS}:Other",
        None,
    ),
    "a wrong clock": (
        f"java.nio.file.AccessDeniedException: t/x: PUT: {_OF_AWS}:RequestTimeTooSkewed",
        "Set this machine's clock",
    ),
    "no credentials": (
        "java.nio.file.AccessDeniedException: s3a://b/t: "
        f"org.apache.hadoop.fs.s3a.auth.NoAwsCredentialsException: {_SIMPLE}",
        "Give credentials",
    ),
    "a login that may not act for others": (
        "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.security.authorize."
        "AuthorizationException): User: hive is not allowed to impersonate ann",
        "Let whoever logs in act for that user",
    ),
    "no ticket of Kerberos": (
        "org.apache.hadoop.security.AccessControlException: "
        "Client cannot authenticate via:[TOKEN, KERBEROS]",
        "Log in by Kerberos: kinit",
    ),
    "a token that was cancelled": (
        "org.apache.hadoop.ipc.RemoteException(org.apache.hadoop.security.token.SecretManager$"
        "InvalidToken): Token for real user: , can't be found in cache",
        "It has ended, as nobody renewed it, or was cancelled: start the task again",
    ),
    "a token that has ended, told by the class itself": (
        "org.apache.hadoop.security.token.SecretManager$InvalidToken: Token has expired",
        "It has ended, as nobody renewed it, or was cancelled: start the task again",
    ),
    "a rule of this machine's disk": ("java.nio.file.AccessDeniedException: /data/t", None),
}


@pytest.mark.parametrize(("report", "remedy"), REPORTS.values(), ids=REPORTS)
def test_remedies(report: str, remedy: str | None) -> None:
    explained, refusal = reason_and_remedy(_CALLED + report), refusal_of(_CALLED + report)
    if remedy is None:
        assert (explained, refusal) == (None, None)
        return
    assert explained is not None
    assert explained[2].startswith(remedy)
    assert refusal is not None
    assert f". {remedy}" in str(refusal)
    assert not refusal.retryable
