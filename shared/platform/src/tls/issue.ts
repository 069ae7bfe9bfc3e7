import { createPublicKey } from 'node:crypto'
import { printServiceIdentity, type ServiceRole } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import { id_kp_clientAuth, id_kp_serverAuth, KeyUsageFlags } from '@peculiar/asn1-x509'
import {
  alternativeNames,
  authorityConstraint,
  authorityIdentifier,
  keyUsage,
  nameOf,
  purposes,
  readIssuer,
  readSigningKey,
  requestedNames,
  signCertificate,
  subjectIdentifier,
} from './certificate.ts'
import type { CertificateRequest } from './certificate-request.ts'
import type { KeyPair } from './key-pair.ts'
import { generateKeys, type KeyKind, type Keys, printKey } from './keys.ts'

const dayMs = 86_400_000
/** Tolerance for clients whose clock is slow. */
const backdatedMs = 5 * 60_000
const authorityLifeMs = 3_650 * dayMs
const certificateLifeMs = 365 * dayMs

/** The time at which a certificate is made. */
export interface Issuance {
  /** Wall clock. */
  readonly nowMs: number
  /** True for validity from 1970 to 9999, for a test clock that differs from the verifiers' time. */
  readonly isTimeless?: boolean | undefined
}

/** Makes a self-signed certificate authority. */
export async function issueAuthority({ commonName, ...issuance }: { readonly commonName: string } & Issuance): Promise<KeyPair> {
  const { publicKey, privateKey } = await generateKeys('P-256')
  const subject = nameOf({ commonName, organizations: [] })
  const certificate = signCertificate(
    {
      issuer: subject,
      subject,
      publicKey,
      validity: validityOf(issuance, authorityLifeMs),
      extensions: [
        authorityConstraint(true),
        keyUsage(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign | KeyUsageFlags.digitalSignature),
        subjectIdentifier(publicKey),
      ],
    },
    privateKey,
  )
  return { certificate, key: printKey(privateKey) }
}

/** Makes a server certificate for these host names and addresses. */
export function issueServing(
  options: {
    authority: KeyPair
    commonName: string
    names: readonly string[]
  } & Issuance,
): Promise<KeyPair> {
  return issue({ ...options, organizations: [], extensions: [purposes(id_kp_serverAuth), alternativeNames(options.names)] })
}

/** Makes a client certificate: the common name is the user's name, the organizations are its groups. */
export function issueClient(
  options: {
    authority: KeyPair
    commonName: string
    organizations: readonly string[]
    keyKind?: KeyKind
  } & Issuance,
): Promise<KeyPair> {
  return issue({ ...options, extensions: [purposes(id_kp_clientAuth)] })
}

/** The subject of a service's certificate, and the signing authority. */
export interface ServiceCertificateOptions {
  readonly authority: KeyPair
  readonly names: Names
  readonly role: ServiceRole
  /** Host names and addresses under which clients dial the service. */
  readonly hostNames: readonly string[]
  readonly nowMs: number
}

/** Like `issueServiceCertificate`, with the role as a URI among the names. */
export function issueService({ authority, names, role, hostNames, nowMs }: ServiceCertificateOptions): Promise<KeyPair> {
  return issue({
    authority,
    nowMs,
    commonName: `${names.serverServiceName}-${role}`,
    organizations: [],
    extensions: [purposes(id_kp_serverAuth, id_kp_clientAuth), alternativeNames(hostNames, printServiceIdentity(names, role))],
  })
}

interface IssueOptions extends Issuance {
  readonly authority: KeyPair
  readonly commonName: string
  readonly organizations: readonly string[]
  /** DER. */
  readonly extensions: readonly Uint8Array[]
  readonly keyKind?: KeyKind
}

async function issue(options: IssueOptions): Promise<KeyPair> {
  return certify(options, await generateKeys(options.keyKind))
}

/** Makes a client certificate for existing keys. */
export function certifyClient(options: Omit<IssueOptions, 'extensions'>, keys: Keys): KeyPair {
  return certify({ ...options, extensions: [purposes(id_kp_clientAuth)] }, keys)
}

function certify(options: IssueOptions, { publicKey, privateKey }: Keys): KeyPair {
  const { authority, commonName, organizations, extensions } = options
  const issuer = readIssuer(authority.certificate)
  const signingKey = readSigningKey(authority.key)
  const certificate = signCertificate(
    {
      issuer: issuer.subject,
      subject: nameOf({ commonName, organizations }),
      publicKey,
      validity: validityOf(options, certificateLifeMs, issuer.notAfterMs),
      extensions: [
        authorityConstraint(false),
        keyUsage(KeyUsageFlags.digitalSignature),
        authorityIdentifier(issuer.identifier),
        subjectIdentifier(publicKey),
        ...extensions,
      ],
    },
    signingKey,
  )
  return { certificate, key: printKey(privateKey) }
}

/** Ids of extended key usages that requests may name, in Go's order. */
const requestedPurposes: readonly (readonly [string, string])[] = [
  ['any', '2.5.29.37.0'],
  ['server auth', id_kp_serverAuth],
  ['client auth', id_kp_clientAuth],
  ['code signing', '1.3.6.1.5.5.7.3.3'],
  ['email protection', '1.3.6.1.5.5.7.3.4'],
  ['s/mime', '1.3.6.1.5.5.7.3.4'],
  ['ipsec end system', '1.3.6.1.5.5.7.3.5'],
  ['ipsec tunnel', '1.3.6.1.5.5.7.3.6'],
  ['ipsec user', '1.3.6.1.5.5.7.3.7'],
  ['timestamping', '1.3.6.1.5.5.7.3.8'],
  ['ocsp signing', '1.3.6.1.5.5.7.3.9'],
  ['microsoft sgc', '1.3.6.1.4.1.311.10.3.3'],
  ['netscape sgc', '2.16.840.1.113730.4.1'],
]
/** The other usages of requests, which are key usages. */
const requestedKeyUses: Readonly<Record<string, number>> = {
  signing: KeyUsageFlags.digitalSignature,
  'digital signature': KeyUsageFlags.digitalSignature,
  'content commitment': KeyUsageFlags.nonRepudiation,
  'key encipherment': KeyUsageFlags.keyEncipherment,
  'key agreement': KeyUsageFlags.keyAgreement,
  'data encipherment': KeyUsageFlags.dataEncipherment,
  'cert sign': KeyUsageFlags.keyCertSign,
  'crl sign': KeyUsageFlags.cRLSign,
  'encipher only': KeyUsageFlags.encipherOnly,
  'decipher only': KeyUsageFlags.decipherOnly,
}
/** Certificates with a shorter life are not shortened by the time for which they are backdated. */
const shortLifeMs = 8 * 3_600_000

/** The usages and the life of a certificate for a request. */
export interface RequestTerms {
  /** The usages, named as in a CertificateSigningRequest. */
  readonly usages: readonly string[]
  readonly lifeMs: number
}

/** Makes a certificate with the subject, key and names of a request whose signature was verified; PEM. */
export function certifyRequest(
  { commonName, organizations, publicKey, names }: CertificateRequest,
  { authority, nowMs, usages, lifeMs }: RequestTerms & { readonly authority: KeyPair; readonly nowMs: number },
): string {
  const issuer = readIssuer(authority.certificate)
  if (issuer.notAfterMs <= nowMs) throw new Error('the certificate authority has expired')
  const key = createPublicKey({ key: publicKey, format: 'der', type: 'spki' })
  const ids = new Set(requestedPurposes.flatMap(([usage, id]) => (usages.includes(usage) ? [id] : [])))
  const flags = usages.reduce((all, usage) => all | (requestedKeyUses[usage] ?? 0), 0)
  const hasSubject = commonName !== '' || organizations.length > 0
  return signCertificate(
    {
      issuer: issuer.subject,
      subject: nameOf({ commonName: commonName === '' ? undefined : commonName, organizations }),
      publicKey: key,
      validity: validityOf({ nowMs }, lifeMs < shortLifeMs ? lifeMs : lifeMs - backdatedMs, issuer.notAfterMs),
      extensions: [
        authorityConstraint(false),
        ...(flags === 0 ? [] : [keyUsage(flags)]),
        ...(ids.size === 0 ? [] : [purposes(...ids)]),
        authorityIdentifier(issuer.identifier),
        subjectIdentifier(key),
        ...(names.length === 0
          ? []
          : [
              requestedNames(
                names.map(({ value }) => value),
                hasSubject,
              ),
            ]),
      ],
    },
    readSigningKey(authority.key),
  )
}

const timeless = { notBefore: 0, notAfter: Date.UTC(9999, 11, 31, 23, 59, 59) }

function validityOf({ nowMs, isTimeless = false }: Issuance, lifeMs: number, latestMs = Number.POSITIVE_INFINITY) {
  const { notBefore, notAfter } = isTimeless ? timeless : { notBefore: nowMs - backdatedMs, notAfter: nowMs + lifeMs }
  return { notBefore, notAfter: Math.min(notAfter, latestMs) }
}
