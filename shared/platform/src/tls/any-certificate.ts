import { id_kp_clientAuth, id_kp_serverAuth } from '@peculiar/asn1-x509'
import { systemClock } from '../clock.ts'
import { alternativeNames, authorityConstraint, nameOf, purposes, readIssuer, readSigningKey, signCertificate } from './certificate.ts'
import { generateKeys, printKey } from './keys.ts'

/** A certificate and its key, PEM. */
export interface Pair {
  readonly certificate: string
  readonly key: string
}

const hourMs = 3_600_000
const usages = { server: id_kp_serverAuth, client: id_kp_clientAuth }

export interface CertificateOptions {
  /** The signing certificate. Default: self-signed. */
  readonly issuer?: Pair
  readonly commonName?: string
  readonly organizations?: readonly string[]
  readonly isAuthority?: boolean
  /** True if the certificate contains names of this machine. An authority never does. */
  readonly hasNames?: boolean
  readonly use?: keyof typeof usages
  /** Relative to now. */
  readonly fromMs?: number
  readonly toMs?: number
  /** A URI to add to 127.0.0.1 and localhost. */
  readonly uri?: string
  /** Names that replace 127.0.0.1 and localhost. */
  readonly dnsNames?: readonly string[]
}

const ownNames = ['127.0.0.1', 'localhost']

/** Makes any kind of certificate, valid or invalid. */
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
    dnsNames = ownNames,
  } = options
  const { publicKey, privateKey } = await generateKeys()
  const subject = nameOf({ commonName, organizations })
  const certificate = signCertificate(
    {
      issuer: issuer === undefined ? subject : readIssuer(issuer.certificate).subject,
      subject,
      publicKey,
      validity: { notBefore: systemClock.now() + fromMs, notAfter: systemClock.now() + toMs },
      extensions: [
        authorityConstraint(isAuthority),
        ...(use === undefined ? [] : [purposes(usages[use])]),
        ...(hasNames ? [alternativeNames(dnsNames, uri)] : []),
      ],
    },
    issuer === undefined ? privateKey : readSigningKey(issuer.key),
  )
  return { certificate, key: printKey(privateKey) }
}

/** Makes a self-signed authority. */
export function anAuthority(commonName: string): Promise<Pair> {
  return aCertificate({ commonName, isAuthority: true })
}
