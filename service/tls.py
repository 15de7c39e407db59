"""HTTPS in a room without internet: a local authority, made once, and a certificate under it.

Phones give pages the camera only over HTTPS. Who trusts the authority's certificate (offered by
QR code) gets no warnings. Its key never leaves the data folder.
"""

import datetime as dt
import ipaddress
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from service.errors import StoreError

_AUTHORITY_DAYS = 3650
_SERVER_DAYS = 397  # phones refuse certificates that are valid for longer than some 800 days
_RENEW_DAYS = 30


@dataclass(frozen=True, slots=True)
class Certificates:
    """Files for the server, and the authority's certificate for phones."""

    chain: Path
    key: Path
    authority: bytes


def certificates(folder: Path, names: Sequence[str]) -> Certificates:
    """The certificate for these host names and addresses, made or renewed where needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)
        authority, authority_key = _authority(folder)
        chain, key = folder / "server.crt", folder / "server.key"
        if not _serves(chain, key, names, authority):
            _issue(chain, key, names, authority, authority_key)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"the certificates in {str(folder)!r} cannot be used: {error}; "
            "delete that folder to have new ones made"
        ) from error
    return Certificates(chain, key, authority.public_bytes(serialization.Encoding.PEM))


def _authority(folder: Path) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    cert_file, key_file = folder / "authority.crt", folder / "authority.key"
    if cert_file.exists() and key_file.exists():
        cert = x509.load_pem_x509_certificate(cert_file.read_bytes())
        key = serialization.load_pem_private_key(key_file.read_bytes(), None)
        if isinstance(key, ec.EllipticCurvePrivateKey) and _days_left(cert) > _RENEW_DAYS:
            return cert, key
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name(
        [
            x509.NameAttribute(NameOID.COMMON_NAME, "Kiebitz at this table"),
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Kiebitz"),
        ]
    )
    cert = (
        _builder(name, name, key, _AUTHORITY_DAYS)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_usage(signing=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    _write_secret(key_file, _pem(key))
    cert_file.write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    return cert, key


def _issue(
    chain: Path,
    key_file: Path,
    names: Sequence[str],
    authority: x509.Certificate,
    authority_key: ec.EllipticCurvePrivateKey,
) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0][:64])])
    authority_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    cert = (
        _builder(subject, authority.subject, key, _SERVER_DAYS)
        .add_extension(x509.SubjectAlternativeName([_name(n) for n in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_usage(signing=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(authority_id, critical=False)
        .sign(authority_key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    _write_secret(key_file, _pem(key))
    chain.write_bytes(cert.public_bytes(encoding) + authority.public_bytes(encoding))


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, days: int
) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))  # clocks of phones differ
        .not_valid_after(now + dt.timedelta(days=days))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signing: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signing,
        key_cert_sign=signing,
        crl_sign=signing,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _serves(chain: Path, key: Path, names: Sequence[str], authority: x509.Certificate) -> bool:
    """Whether the certificate on the disk still covers all names, under this authority."""
    if not (chain.exists() and key.exists()):
        return False
    cert = x509.load_pem_x509_certificate(chain.read_bytes())
    alternative = cert.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    covered = {str(name.value) for name in alternative}
    try:
        cert.verify_directly_issued_by(authority)
    except Exception:  # noqa: BLE001  whatever is wrong with it, it is replaced
        return False
    return set(names) <= covered and _days_left(cert) > _RENEW_DAYS


def _days_left(cert: x509.Certificate) -> int:
    return (cert.not_valid_after_utc - dt.datetime.now(dt.UTC)).days


def _pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write_secret(path: Path, content: bytes) -> None:
    """Write a file that only this user may read, from its first byte on."""
    path.unlink(missing_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
