/** Self-signed certificate of receiver.example and 127.0.0.1, for tests only; valid until 2123. */
export const certificate = `-----BEGIN CERTIFICATE-----
MIIBazCCARGgAwIBAgIBATAKBggqhkjOPQQDAjAbMRkwFwYDVQQDDBByZWNlaXZl
ci5leGFtcGxlMCAXDTI0MDEwMTAwMDAwMFoYDzIxMjMxMjMxMDAwMDAwWjAbMRkw
FwYDVQQDDBByZWNlaXZlci5leGFtcGxlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcD
QgAE11ygY5+LZBqhgC3xrFCqQDfUizkfGFTmuhMV2FfJw6IHG27Ln58oFHkoUXFG
mZn6oZvMxgJweNKOYqg4s5LhtqNEMEIwIQYDVR0RBBowGIIQcmVjZWl2ZXIuZXhh
bXBsZYcEfwAAATAdBgNVHQ4EFgQUvYEvE1jxO4SBsdpJFdL75CLE24cwCgYIKoZI
zj0EAwIDSAAwRQIhAOYSQZoj968/nLC954F2EogmIs7YjmL7L9EuLqhewyHQAiBW
6DxwoBqz4MD2ks6KGpg400DrN1/HirAY5hc1eKOi5Q==
-----END CERTIFICATE-----`;

/** Private key of the certificate. The key protects nothing. */
export const privateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNRd39vzDKiw13xCv
ZNlYCwiVHNot0hUrRql/xSgAk+2hRANCAATXXKBjn4tkGqGALfGsUKpAN9SLOR8Y
VOa6ExXYV8nDogcbbsufnygUeShRcUaZmfqhm8zGAnB40o5iqDizkuG2
-----END PRIVATE KEY-----`;
