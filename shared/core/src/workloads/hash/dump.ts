import { ref } from '../../description/values.ts'
import { hasMembers } from '../../json/member.ts'
import { goQuantityParts } from '../../meta/go-quantity.ts'
import { goFieldName } from '../../schema/go-names.ts'
import { type Field, type Node, resolveType, typeNameAt, typeOf } from '../../schema/index.ts'

/** Prints a value; undefined and null print as Go's zero value. */
type Print = (value: unknown) => string

type Members = Readonly<Record<string, unknown>>

/** Go names of fields that cannot be derived. */
const otherNames: Readonly<Record<string, string>> = {
  'AzureDiskVolumeSource.diskURI': 'DataDiskURI',
  'GlusterfsVolumeSource.endpoints': 'EndpointsName',
  'PodSpec.serviceAccount': 'DeprecatedServiceAccount',
  'RBDVolumeSource.image': 'RBDImage',
  'RBDVolumeSource.monitors': 'CephMonitors',
  'RBDVolumeSource.pool': 'RBDPool',
  'RBDVolumeSource.user': 'RadosUser',
}

/** Go types of texts that descriptions do not name. */
const otherTypes: Readonly<Record<string, string>> = {
  'Capabilities.add': '[]v1.Capability',
  'Capabilities.drop': '[]v1.Capability',
  'ObjectMeta.uid': 'types.UID',
  'OwnerReference.uid': 'types.UID',
  'PodReadinessGate.conditionType': 'v1.PodConditionType',
}

/** Go types of values without inner structure, and their printers. */
const scalars: Partial<Record<Node['kind'], readonly [type: string, print: Print]>> = {
  string: ['string', (value) => String(value ?? '')],
  boolean: ['bool', (value) => String(value ?? false)],
  int32: ['int32', (value) => String(value ?? 0)],
  int64: ['int64', (value) => String(value ?? 0)],
  intOrString: ['intstr.IntOrString', printIntOrString],
  quantity: ['resource.Quantity', printQuantity],
  time: ['v1.Time', printTime],
}

/**
 * Prints a Pod template as the dump to hash: the type, then all fields of the level in the order of the Go struct, whether set or not (WL-HASH-04
 * to WL-HASH-13). Absent and empty lists, maps and pointers are `<nil>`; texts are not quoted.
 *
 *   (v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){Name:(string) … Labels:(map[string]string)map[app:x] …} Spec:(v1.PodSpec){…}}
 */
export function templateDumperAt(level: number): (template: object) => string {
  const print = new Types().printerOf(ref(typeNameAt('core/v1.PodTemplateSpec', level)))
  return (template) => `(v1.PodTemplateSpec)${print(template)}`
}

class Types {
  /** Printers of types by name. */
  readonly #printers = new Map<string, Print>()

  printerOf(node: Node): Print {
    if (node.kind === 'list') {
      const print = this.printerOf(node.items)
      return (value) => (Array.isArray(value) && value.length > 0 ? `[${value.map(print).join(' ')}]` : '<nil>')
    }
    if (node.kind === 'map') return printMap(this.printerOf(node.values))
    if (node.kind !== 'ref') return scalars[node.kind]?.[1] ?? (() => '{}')
    let made: Print | undefined
    // Most templates lack most types, and structs may contain themselves: a type is described when a value has it.
    return (value) => {
      made ??= this.#printerOfType(node.name)
      return made(value)
    }
  }

  #printerOfType(name: string): Print {
    const known = this.#printers.get(name)
    if (known !== undefined) return known
    const type = resolveType(name)
    const print = type.kind === 'struct' ? this.#structPrinter(type.fields, typeOf(name)) : this.printerOf(type)
    this.#printers.set(name, print)
    return print
  }

  #structPrinter(fields: readonly Field[], type: string): Print {
    const prints = this.#fieldPrinters(fields, type)
    return (value) => {
      const members = hasMembers(value) ? value : {}
      return `{${prints.map((print) => print(members)).join(' ')}}`
    }
  }

  #fieldPrinters(fields: readonly Field[], type: string): ((members: Members) => string)[] {
    const embedded = Map.groupBy(fields, ({ inlined }) => inlined?.type)
    return fields.flatMap((field) => {
      const { inlined } = field
      if (inlined === undefined) return [this.#fieldPrinter(field, type)]
      const [first, ...others] = embedded.get(inlined.type) ?? []
      if (field !== first) return []
      const name = typeOf(inlined.type)
      const plain = [first, ...others].map(({ inlined: _inlined, ...one }) => one)
      const print = this.#structPrinter(plain, name)
      return [(members: Members) => `${name}:(v1.${name})${print(members)}`]
    })
  }

  #fieldPrinter(field: Field, type: string): (members: Members) => string {
    const { name, node, pointer } = field
    const key = `${type}.${name}`
    const isPointer = pointer && node.kind !== 'list' && node.kind !== 'map'
    const print = this.printerOf(node)
    const head = `${otherNames[key] ?? goFieldName(field)}:(${isPointer ? '*' : ''}${otherTypes[key] ?? goTypeOf(node)})`
    // Most fields of a template are absent, and some are whole structs.
    let absent: string | undefined
    return (members) => {
      const value = members[name]
      if (value != null) return head + print(value)
      absent ??= head + (isPointer ? '<nil>' : print(undefined))
      return absent
    }
  }
}

function goTypeOf(node: Node): string {
  if (node.kind === 'ref') return `v1.${typeOf(node.name)}`
  if (node.kind === 'list') return `[]${goTypeOf(node.items)}`
  if (node.kind === 'map') return node.values.kind === 'quantity' ? 'v1.ResourceList' : `map[string]${goTypeOf(node.values)}`
  return scalars[node.kind]?.[0] ?? node.kind
}

function printMap(print: Print): Print {
  return (value) => {
    const entries = Object.entries(value ?? {})
    if (entries.length === 0) return '<nil>'
    const sorted = entries.sort(([left], [right]) => (left < right ? -1 : 1))
    return `map[${sorted.map(([key, item]) => `${key}:${print(item)}`).join(' ')}]`
  }
}

function printIntOrString(value: unknown): string {
  const isText = typeof value === 'string'
  return `{Type:(intstr.Type)${isText ? 1 : 0} IntVal:(int32)${isText ? 0 : Number(value ?? 0)} StrVal:(string)${isText ? value : ''}}`
}

/** Seconds from year 1 to 1970. */
const goEpochSeconds = 62_135_596_800

function printTime(value: unknown): string {
  const seconds = typeof value === 'string' ? Math.floor(Date.parse(value) / 1000) + goEpochSeconds : 0
  return `{Time:(time.Time){wall:(uint64)0 ext:(int64)${seconds} loc:(*time.Location)<nil>}}`
}

function printQuantity(value: unknown): string {
  const { amount, scale, text, format, decimal } = goQuantityParts(String(value ?? '0'))
  const dec = decimal === undefined ? '<nil>' : printDecimal(decimal)
  return (
    `{i:(resource.int64Amount){value:(int64)${amount} scale:(resource.Scale)${scale}} ` +
    `d:(resource.infDecAmount){Dec:(*inf.Dec)${dec}} s:(string)${text} Format:(resource.Format)${format}}`
  )
}

function printDecimal({ unscaled, scale }: { readonly unscaled: bigint; readonly scale: number }): string {
  const words: bigint[] = []
  for (let rest = unscaled < 0n ? -unscaled : unscaled; rest > 0n; rest >>= 64n) words.push(BigInt.asUintN(64, rest))
  const abs = words.length === 0 ? '<nil>' : `[${words.join(' ')}]`
  return `{unscaled:(big.Int){neg:(bool)${unscaled < 0n} abs:(big.nat)${abs}} scale:(inf.Scale)${scale}}`
}
