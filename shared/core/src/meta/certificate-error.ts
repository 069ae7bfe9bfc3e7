/** The certificate errors of OpenSSL and Node, in the words of Go's TLS. */
const reasons: ReadonlyMap<string, string> = new Map([
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'certificate signed by unknown authority'],
  ['UNABLE_TO_GET_ISSUER_CERT', 'certificate signed by unknown authority'],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'certificate signed by unknown authority'],
  ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate signed by unknown authority'],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', 'certificate signed by unknown authority'],
  ['CERT_UNTRUSTED', 'certificate signed by unknown authority'],
  ['CERT_HAS_EXPIRED', 'certificate has expired or is not yet valid'],
  ['CERT_NOT_YET_VALID', 'certificate has expired or is not yet valid'],
  ['INVALID_PURPOSE', 'certificate specifies an incompatible key usage'],
  ['INVALID_CA', 'invalid signature: parent certificate cannot sign this kind of certificate'],
])

/** The reason why a server's certificate was not trusted, in the words of Go's clients; undefined for other errors. */
export function certificateReason(error: unknown): string | undefined {
  if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) return undefined
  const reason = error.code === 'ERR_TLS_CERT_ALTNAME_INVALID' ? nameReason(error) : reasons.get(error.code)
  return reason === undefined ? undefined : `tls: failed to verify certificate: x509: ${reason}`
}

const anAddress = /^\d+(?:\.\d+){3}$|:/

function nameReason(error: Error): string {
  const host = 'host' in error && typeof error.host === 'string' ? error.host : ''
  const names = namesIn('cert' in error ? error.cert : undefined)
  if (anAddress.test(host)) {
    if (names.addresses.length === 0) return `cannot validate certificate for ${host} because it doesn't contain any IP SANs`
    return `certificate is valid for ${names.addresses.join(', ')}, not ${host}`
  }
  if (names.hosts.length === 0) return `certificate is not valid for any names, but wanted to match ${host}`
  return `certificate is valid for ${names.hosts.join(', ')}, not ${host}`
}

/** The alternative names of a certificate, which Node returns as one text: `DNS:a.b, IP Address:127.0.0.1`. */
function namesIn(certificate: unknown): { readonly hosts: readonly string[]; readonly addresses: readonly string[] } {
  const isCertificate = typeof certificate === 'object' && certificate !== null && 'subjectaltname' in certificate
  const names = isCertificate ? String(certificate.subjectaltname ?? '').split(', ') : []
  const of = (prefix: string) => names.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length))
  return { hosts: of('DNS:'), addresses: of('IP Address:') }
}

/** Node's advice about its own options, which is useless in a server's messages. */
const advice = /; if the root CA is installed locally, try running Node\.js with --use-system-ca/g

/** A message without Node's advice about its options, even if a library has wrapped it. */
export function withoutAdvice(message: string): string {
  return message.replace(advice, '')
}
