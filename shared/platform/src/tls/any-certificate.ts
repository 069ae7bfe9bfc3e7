import { webcrypto } from 'node:crypto'
import { systemClock } from '../clock.ts'
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'

/** A certificate and its key, PEM. */
export interface Pair {
  readonly certificate: string
  readonly key: string
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const hourMs = 3_600_000
const usages = { server: '1.3.6.1.5.5.7.3.1', client: '1.3.6.1.5.5.7.3.2' } as const

export interface CertificateOptions {
  /** Signs; itself where there is none. */
  readonly issuer?: Pair
  readonly commonName?: string
  readonly organizations?: readonly string[]
  readonly isAuthority?: boolean
  /** Names of this machine stand in it; those of authorities are left out. */
  readonly hasNames?: boolean
  readonly use?: keyof typeof usages
  /** Relative to now. */
  readonly fromMs?: number
  readonly toMs?: number
  /** As a URI, beside 127.0.0.1 and localhost. */
  readonly uri?: string
  /** In the place of 127.0.0.1 and localhost. */
  readonly dnsNames?: readonly string[]
}

const ownNames: x509.JsonGeneralNames = [
  { type: 'ip', value: '127.0.0.1' },
  { type: 'dns', value: 'localhost' },
]

/** A certificate of any kind, good ones and bad ones. */
export async function aCertificate(options: CertificateOptions): Promise<Pair> {
  const {
    issuer,
    commonName,
    organizations = [],
    isAuthority = false,
    hasNames = !isAuthority,
    use,
    fromMs = -hourMs,
    toMs = hourMs,
    uri,
    dnsNames,
  } = options
  const keys = (await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  const subject = [
    ...organizations.map((organization) => ({ O: [organization] })),
    ...(commonName === undefined ? [] : [{ CN: [commonName] }]),
  ]
  const names: x509.JsonGeneralNames = [
    ...(dnsNames === undefined ? ownNames : dnsNames.map((value) => ({ type: 'dns' as const, value }))),
    ...(uri === undefined ? [] : [{ type: 'url' as const, value: uri }]),
  ]
  const certificate = await x509.X509CertificateGenerator.create({
    subject,
    issuer: issuer === undefined ? subject : new x509.X509Certificate(issuer.certificate).subjectName,
    publicKey: keys.publicKey,
    signingKey: issuer === undefined ? keys.privateKey : await keyOf(issuer),
    signingAlgorithm: algorithm,
    notBefore: new Date(systemClock.now() + fromMs),
    notAfter: new Date(systemClock.now() + toMs),
    extensions: [
      new x509.BasicConstraintsExtension(isAuthority, undefined, true),
      ...(use === undefined ? [] : [new x509.ExtendedKeyUsageExtension([usages[use]])]),
      ...(hasNames ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  })
  return { certificate: `${certificate.toString('pem')}\n`, key }
}

/** An authority that signs for itself. */
export function anAuthority(commonName: string): Promise<Pair> {
  return aCertificate({ commonName, isAuthority: true })
}

function keyOf({ key }: Pair): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('pkcs8', x509.PemConverter.decode(key)[0] as ArrayBuffer, algorithm, false, ['sign'])
}
