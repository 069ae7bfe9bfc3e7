import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { derTags, printDer } from '@orch/platform'

/** Encoded object identifiers. */
const types = {
  commonName: '0603550403',
  organization: '060355040a',
  unit: '060355040b',
  extensionRequest: '06092a864886f70d01090e',
  alternativeNames: '0603551d11',
  basicConstraints: '0603551d13',
  ecdsaWithSha256: '06082a8648ce3d040302',
}
const utf8String = 0x0c
const sequence = (...content: readonly Uint8Array[]) => printDer(derTags.sequence, ...content)
const set = (...content: readonly Uint8Array[]) => printDer(derTags.set, ...content)
const typed = (type: keyof typeof types, ...content: readonly Uint8Array[]) => sequence(Buffer.from(types[type], 'hex'), ...content)

export interface RequestedSubject {
  readonly commonName?: string
  readonly organizations?: readonly string[]
  readonly unit?: string
  /** The tags and contents of the subject alternative names. */
  readonly names?: readonly (readonly [tag: number, content: string | Uint8Array])[]
  /** Requests a CA certificate. */
  readonly wantsAuthority?: boolean
}

/** A PKCS #10 request in PEM and its private key, made without an external program. */
export function aCertificateRequest(subject: RequestedSubject): { readonly pem: string; readonly key: KeyObject } {
  const { commonName, organizations = [], unit, names = [], wantsAuthority = false } = subject
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const text = (type: keyof typeof types, value: string) => set(typed(type, printDer(utf8String, Buffer.from(value))))
  const extensions = [
    ...(wantsAuthority ? [typed('basicConstraints', printDer(derTags.octets, sequence(Buffer.from('0101ff', 'hex'))))] : []),
    ...(names.length === 0
      ? []
      : [typed('alternativeNames', printDer(derTags.octets, sequence(...names.map(([tag, name]) => printDer(tag, Buffer.from(name))))))]),
  ]
  const information = sequence(
    Buffer.from('020100', 'hex'),
    sequence(
      ...organizations.map((name) => text('organization', name)),
      ...(unit === undefined ? [] : [text('unit', unit)]),
      ...(commonName === undefined ? [] : [text('commonName', commonName)]),
    ),
    publicKey.export({ type: 'spki', format: 'der' }),
    printDer(derTags.attributes, ...(extensions.length === 0 ? [] : [typed('extensionRequest', set(sequence(...extensions)))])),
  )
  const signature = printDer(derTags.bits, Uint8Array.of(0), sign('sha256', information, privateKey))
  const request = sequence(information, typed('ecdsaWithSha256'), signature)
  const lines = request.toString('base64').match(/.{1,64}/g) ?? []
  return { pem: `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`, key: privateKey }
}
