import { DerError, type DerValue, derTags, derValues, expectDer } from './der.ts'
import { pemBlocks } from './pem.ts'

/** The encoded ids 2.5.4.3 and 2.5.4.10. */
const subjectTypes = { commonName: '550403', organization: '55040a' }
/** The encoded ids 1.2.840.113549.1.9.14 and 2.5.29.17. */
const extensionTypes = { request: '2a864886f70d01090e', alternativeNames: '551d11' }
/** The supported kinds of alternative names by tag; names of other kinds are ignored. */
const nameKinds: ReadonlyMap<number, AlternativeName['kind']> = new Map([
  [0x81, 'email'],
  [0x82, 'dns'],
  [0x86, 'uri'],
  [0x87, 'address'],
])

/** A subject alternative name. */
interface AlternativeName {
  readonly kind: 'address' | 'dns' | 'email' | 'uri'
  /** DER. */
  readonly value: Uint8Array
}

/** A certificate request, PKCS #10. */
export type CertificateRequest = ReturnType<typeof readCertificateRequest>

/**
 * Reads a request in PEM. Throws a DerError for an invalid text. The signature is not verified. The library for making certificates is
 * not used, because it does not support all string types and could miss a group.
 */
export function readCertificateRequest(pem: string) {
  const [block] = pemBlocks(pem)
  if (block?.type !== 'CERTIFICATE REQUEST') throw new DerError('PEM block type must be CERTIFICATE REQUEST')
  const { bytes } = block
  const [request] = derValues(bytes, { start: 0, end: bytes.length })
  const [information] = derValues(bytes, expectDer(request, derTags.sequence))
  const [version, subject, publicKey, attributes] = derValues(bytes, expectDer(information, derTags.sequence))
  expectDer(version, derTags.integer)
  const fields = derValues(bytes, expectDer(subject, derTags.sequence)).flatMap((names) =>
    derValues(bytes, expectDer(names, derTags.set)).map((attribute) => readField(bytes, attribute)),
  )
  const textsOf = (wanted: string) => fields.flatMap(({ type, text }) => (type === wanted ? [text] : []))
  const { from, end } = expectDer(publicKey, derTags.sequence)
  return {
    /** The last common name of the subject. */
    commonName: textsOf(subjectTypes.commonName).at(-1) ?? '',
    organizations: textsOf(subjectTypes.organization),
    /** DER. */
    publicKey: bytes.subarray(from, end),
    names: attributes === undefined ? [] : namesIn(bytes, expectDer(attributes, derTags.attributes)),
  }
}

function readField(bytes: Buffer, attribute: DerValue): { readonly type: string; readonly text: string } {
  const [type, value] = derValues(bytes, expectDer(attribute, derTags.sequence))
  if (value === undefined) throw new DerError('the subject has an attribute without a value')
  const content = bytes.subarray(value.start, value.end)
  const text = value.tag === derTags.bmpString ? new TextDecoder('utf-16be').decode(content) : content.toString()
  return { type: readType(bytes, type), text }
}

function readType(bytes: Buffer, value: DerValue | undefined): string {
  const { start, end } = expectDer(value, derTags.objectIdentifier)
  return bytes.toString('hex', start, end)
}

function namesIn(bytes: Buffer, attributes: DerValue): AlternativeName[] {
  return derValues(bytes, attributes).flatMap((attribute) => {
    const [type, values] = derValues(bytes, expectDer(attribute, derTags.sequence))
    if (readType(bytes, type) !== extensionTypes.request) return []
    const [extensions] = derValues(bytes, expectDer(values, derTags.set))
    return derValues(bytes, expectDer(extensions, derTags.sequence)).flatMap((extension) => namesOf(bytes, extension))
  })
}

function namesOf(bytes: Buffer, extension: DerValue): AlternativeName[] {
  const [type, ...rest] = derValues(bytes, expectDer(extension, derTags.sequence))
  if (readType(bytes, type) !== extensionTypes.alternativeNames) return []
  // A `critical` flag may precede the value.
  const [names] = derValues(bytes, expectDer(rest.at(-1), derTags.octets))
  return derValues(bytes, expectDer(names, derTags.sequence)).flatMap(({ tag, from, start, end }) => {
    const kind = nameKinds.get(tag)
    if (kind === undefined) return []
    const content = bytes.subarray(start, end)
    if (kind === 'address' ? ![4, 16].includes(content.length) : content.some((byte) => byte >= 0x80)) {
      throw new DerError(`a name of the kind ${kind} is malformed`)
    }
    return [{ kind, value: bytes.subarray(from, end) }]
  })
}
