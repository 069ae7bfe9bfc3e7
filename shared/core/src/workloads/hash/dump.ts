import { hasMembers } from '../../json/member.ts'
import { goQuantityParts } from '../../meta/go-quantity.ts'
import { type FieldShape, structShapesAt } from './struct-shapes.ts'

/** Prints a value; undefined and null print as Go's zero value. */
type Print = (value: unknown) => string

type Members = Readonly<Record<string, unknown>>

/**
 * Prints a Pod template as the dump to hash: the type, then all fields of the level in the order of the Go struct, whether set or not (WL-HASH-04
 * to WL-HASH-13). Absent and empty lists, maps and pointers are `<nil>`; texts are not quoted.
 *
 *   (v1.PodTemplateSpec){ObjectMeta:(v1.ObjectMeta){Name:(string) … Labels:(map[string]string)map[app:x] …} Spec:(v1.PodSpec){…}}
 */
export function templateDumperAt(level: number): (template: object) => string {
  const types = new Types(structShapesAt(level))
  const print = types.printerOf('v1.PodTemplateSpec')
  return (template) => `(v1.PodTemplateSpec)${print(template)}`
}

class Types {
  readonly #shapes: ReadonlyMap<string, readonly FieldShape[]>
  readonly #printers = new Map<string, Print>([
    ['string', (value) => String(value ?? '')],
    ['bool', (value) => String(value ?? false)],
    ['int32', (value) => String(value ?? 0)],
    ['int64', (value) => String(value ?? 0)],
    ['intstr.IntOrString', printIntOrString],
    ['resource.Quantity', (value) => printQuantity(value)],
    ['v1.Time', printTime],
  ])

  constructor(shapes: ReadonlyMap<string, readonly FieldShape[]>) {
    this.#shapes = shapes
  }

  /** The printer of a type such as `*int64` or `[]v1.Capability=string`. */
  printerOf(type: string): Print {
    const known = this.#printers.get(type)
    if (known !== undefined) return known
    const print = this.#createPrinter(type)
    this.#printers.set(type, print)
    return print
  }

  #createPrinter(type: string): Print {
    if (type.startsWith('*')) {
      const print = this.printerOf(type.slice(1))
      return (value) => (value == null ? '<nil>' : print(value))
    }
    if (type.startsWith('[]')) {
      const print = this.printerOf(type.slice(2))
      return (value) => (Array.isArray(value) && value.length > 0 ? `[${value.map(print).join(' ')}]` : '<nil>')
    }
    const map = /^(?:\S+?=)?map\[[^\]]*\](.*)$/.exec(type)
    if (map !== null) return printMap(this.printerOf(map[1] ?? ''))
    const under = type.slice(type.indexOf('=') + 1)
    return under === type ? this.#structPrinter(type) : this.printerOf(under)
  }

  #structPrinter(name: string): Print {
    const shape = this.#shapes.get(name)
    if (shape === undefined) return () => '{}'
    let fields: ((members: Members) => string)[] | undefined
    return (value) => {
      // Structs may contain themselves.
      fields ??= shape.map((field) => this.#fieldPrinter(field))
      const members = hasMembers(value) ? value : {}
      return `{${fields.map((print) => print(members)).join(' ')}}`
    }
  }

  #fieldPrinter({ goName, type, jsonName }: FieldShape): (members: Members) => string {
    const print = this.printerOf(type)
    const head = `${goName}:(${nameOf(type)})`
    return jsonName === undefined ? (members) => head + print(members) : (members) => head + print(members[jsonName])
  }
}

/** The name of a type without its underlying type: `*v1.X=string` is `*v1.X`. */
function nameOf(type: string): string {
  return type.replace(/=.*$/, '')
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
