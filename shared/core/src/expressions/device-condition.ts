import { getOrMake } from '@orch/cel/memo'
import { plan } from '@orch/cel/plan'
import { parseQuantity } from '@orch/cel/quantity'
import { parseSemver } from '@orch/cel/semver'
import { MapView, type Meter, type Value } from '@orch/cel/values'
import { boundedMemo, memo } from '../memo.ts'
import type { BuiltIn } from '../schema/built-in.ts'
import { type DeviceLanguage, deviceCostMax, deviceEnvironment } from './device-selector.ts'

type Device = BuiltIn<'resource/v1.Device'>

/** A compiled condition on devices. */
export type DeviceCondition =
  /** Returns the answer or the error of the evaluation. */
  | { readonly kind: 'condition'; readonly ask: (driver: string, device: Device) => boolean | { readonly problem: string } }
  | { readonly kind: 'malformed'; readonly problem: string }

const conditionsMax = 1_000

/** Compiles a condition. A stored selector compiles, unless an older release has stored it. */
export function deviceCondition(text: string, language: DeviceLanguage): DeviceCondition {
  return conditionOf(JSON.stringify([text, JSON.stringify(language)]))
}

/** Cached conditions, by the JSON of text and language. */
const conditionOf = boundedMemo(conditionsMax, (key: string): DeviceCondition => {
  const [text, language]: [string, string] = JSON.parse(key)
  const compiled = deviceEnvironment(language).compile(text)
  if (compiled.kind === 'invalid') return { kind: 'malformed', problem: `compilation failed: ${compiled.message}` }
  const planned = plan(compiled.ast)
  if (planned.kind === 'refused') return { kind: 'malformed', problem: `program instantiation failed: ${planned.message}` }
  const { program } = planned
  return {
    kind: 'condition',
    ask(driver, device) {
      const result = program.evaluate(
        { device: getOrMake(valuesOf(device), driver, () => createValue(device, driver)) },
        { costLimit: Number(deviceCostMax) },
      )
      if (result.kind !== 'value') return { problem: result.message }
      return typeof result.value === 'boolean' ? result.value : { problem: 'the result is no bool' }
    },
  }
})

/** The variable `device` by driver: caches share equal devices of several drivers. */
const valuesOf = memo((_: Device) => new Map<string, Value>())

/** Names without a domain have the driver as their domain. */
function createValue({ attributes = {}, capacity = {}, allowMultipleAllocations }: Device, driver: string): Value {
  const quantities = Object.entries(capacity).map(([name, { value }]): [string, Value] => [name, parseQuantity(value)])
  return {
    driver,
    allowMultipleAllocations: allowMultipleAllocations === true,
    attributes: new Domains(
      driver,
      Object.entries(attributes).map(([name, attribute]): [string, Value] => [name, attributeValue(attribute)]),
    ),
    capacity: new Domains(driver, quantities),
  }
}

function attributeValue({ int, bool, string, version, ints, bools, strings, versions }: NonNullable<Device['attributes']>[string]): Value {
  return ints ?? bools ?? strings ?? versions?.map((one) => parseSemver(one)) ?? int ?? bool ?? string ?? parseSemver(version ?? '')
}

const noValues: Readonly<Record<string, Value>> = Object.freeze({})

/** Values by domain and name. An absent domain reads as empty, so that the error for `device.attributes["a.example.com"].b` names `b`. */
class Domains extends MapView {
  readonly #byDomain = new Map<string, Record<string, Value>>()

  constructor(driver: string, values: readonly (readonly [string, Value])[]) {
    super()
    for (const [qualified, value] of values) {
      const slash = qualified.indexOf('/')
      const domain = slash < 0 ? driver : qualified.slice(0, slash)
      this.#byDomain.set(domain, { ...this.#byDomain.get(domain), [qualified.slice(slash + 1)]: value })
    }
  }

  override size(): number {
    return this.#byDomain.size
  }

  override get(_meter: Meter, key: Value): Value | undefined {
    return typeof key === 'string' ? (this.#byDomain.get(key) ?? noValues) : undefined
  }

  override keys(): Iterable<Value> {
    return this.#byDomain.keys()
  }
}
