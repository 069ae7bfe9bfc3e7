import { webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import 'reflect-metadata'
import { printServiceIdentity, type ServiceRole } from '@orch/core/contracts'
import type { Names } from '@orch/core/names'
import * as x509 from '@peculiar/x509'
import type { KeyPair } from './key-pair.ts'

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const
const dayMs = 86_400_000
/** Clocks of a client may be behind ours by this much. */
const backdatedMs = 5 * 60_000
const authorityLifeMs = 3_650 * dayMs
const certificateLifeMs = 365 * dayMs

const usage = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
}

/** A new certificate authority that signs for itself. */
export async function issueAuthority({ commonName, nowMs }: { commonName: string; nowMs: number }): Promise<KeyPair> {
  const keys = await generateKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    keys,
    signingAlgorithm: algorithm,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(nowMs + authorityLifeMs),
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign | x509.KeyUsageFlags.digitalSignature, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return { certificate: certificate.toString('pem'), key: await printKey(keys.privateKey) }
}

/** A certificate for the server under these host names and addresses. */
export function issueServing(options: {
  authority: KeyPair
  commonName: string
  names: readonly string[]
  nowMs: number
}): Promise<KeyPair> {
  const names = options.names.map(alternativeName)
  return issue({
    ...options,
    organizations: [],
    extensions: [new x509.ExtendedKeyUsageExtension([usage.server]), new x509.SubjectAlternativeNameExtension(names)],
  })
}

/** A certificate by which the server knows a user: the common name is the user's name, the organizations are the groups. */
export function issueClient(options: {
  authority: KeyPair
  commonName: string
  organizations: readonly string[]
  nowMs: number
}): Promise<KeyPair> {
  return issue({ ...options, extensions: [new x509.ExtendedKeyUsageExtension([usage.client])] })
}

/** For whom a service's certificate is made, and which authority signs it. */
export interface ServiceCertificateOptions {
  readonly authority: KeyPair
  readonly names: Names
  readonly role: ServiceRole
  /** Host names and addresses under which the service is dialled. */
  readonly hostNames: readonly string[]
  readonly nowMs: number
}

/** As `issueServiceCertificate`: the role stands as a URI beside the names. */
export function issueService({ authority, names, role, hostNames, nowMs }: ServiceCertificateOptions): Promise<KeyPair> {
  const identity = { type: 'url' as const, value: printServiceIdentity(names, role) }
  return issue({
    authority,
    nowMs,
    commonName: `${names.serverServiceName}-${role}`,
    organizations: [],
    extensions: [
      new x509.ExtendedKeyUsageExtension([usage.server, usage.client]),
      new x509.SubjectAlternativeNameExtension([...hostNames.map(alternativeName), identity]),
    ],
  })
}

function alternativeName(value: string) {
  return { type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value }
}

interface IssueOptions {
  readonly authority: KeyPair
  readonly commonName: string
  readonly organizations: readonly string[]
  readonly extensions: x509.Extension[]
  readonly nowMs: number
}

async function issue({ authority, commonName, organizations, extensions, nowMs }: IssueOptions): Promise<KeyPair> {
  const issuer = new x509.X509Certificate(authority.certificate)
  const keys = await generateKeys()
  const certificate = await x509.X509CertificateGenerator.create({
    subject: [...(organizations.length === 0 ? [] : [{ O: [...organizations] }]), { CN: [commonName] }],
    issuer: issuer.subjectName,
    publicKey: keys.publicKey,
    signingKey: await parseKey(authority.key),
    signingAlgorithm: algorithm,
    notBefore: new Date(nowMs - backdatedMs),
    notAfter: new Date(Math.min(nowMs + certificateLifeMs, issuer.notAfter.getTime())),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ...extensions,
    ],
  })
  return { certificate: certificate.toString('pem'), key: await printKey(keys.privateKey) }
}

function generateKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']) as Promise<webcrypto.CryptoKeyPair>
}

async function printKey(key: webcrypto.CryptoKey): Promise<string> {
  return x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', key), x509.PemConverter.PrivateKeyTag)
}

function parseKey(pem: string): Promise<webcrypto.CryptoKey> {
  const bytes = x509.PemConverter.decode(pem)[0]
  if (bytes === undefined) throw new Error('the key of the certificate authority is not in PEM form')
  return webcrypto.subtle.importKey('pkcs8', bytes, algorithm, false, ['sign'])
}
