import { seed } from '@orch/testkit/chance'
import { describe, expect, test } from 'vitest'
import type { ManagedFieldsEntry } from '../meta/object-meta.ts'
import { runAtOnce } from '../steps.ts'
import { parseStructural } from '../structural/parse.ts'
import { shapeOfCustomObject as shapeOfParsedCustomObject } from '../structural/shape.ts'
import { type ApplyOptions, type ApplyOutcome, applyToInSteps, beforeFirstApplyManager } from './apply.ts'
import { describePaths, type FieldSet, parseFieldSet, printFieldSet } from './field-set.ts'
import { trackUpdate } from './ownership.ts'
import type { ObjectShape } from './shape.ts'

function shapeOfCustomObject(schema: unknown): ObjectShape {
  return shapeOfParsedCustomObject(schema === undefined ? undefined : parseStructural(schema))
}

const schema = shapeOfCustomObject({
  type: 'object',
  properties: {
    ...Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, { type: 'number' }])),
    tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
  },
})
const apiVersion = 'example.com/v1'
const now = '2026-01-02T03:04:05Z'
const scalars = ['a', 'b', 'c', 'd', 'e']
const tags = ['x', 'y', 'z']
const managers = ['m1', 'm2', 'm3', 'm4']

/** The values of an object by path. An item of a set has no value besides its presence. */
type Values = Map<string, number>
const applyTo = (options: ApplyOptions) => runAtOnce(applyToInSteps(options))
type Engine = { applyTo: typeof applyTo; trackUpdate: typeof trackUpdate }

/** A simple model of ownership: a value per path, and a set of paths per owner. */
class Model {
  values: Values = new Map()
  owners = new Map<string, Set<string>>()

  apply(manager: string, config: Values, force: boolean): string[] {
    if (this.owners.size === 0 && this.values.size > 0) this.owners.set(`${beforeFirstApplyManager} Update`, new Set(this.values.keys()))
    const self = `${manager} Apply`
    const others = [...this.owners].filter(([name]) => name !== self)
    const isChanged = (path: string) => config.has(path) && config.get(path) !== this.values.get(path)
    const conflicts = others.flatMap(([name, paths]) => [...paths].filter(isChanged).map((path) => `${name.split(' ')[0]} ${path}`))
    if (conflicts.length > 0 && !force) return conflicts.sort()
    for (const [, paths] of others) for (const path of [...paths]) if (isChanged(path)) paths.delete(path)
    const isKept = (path: string) => config.has(path) || others.some(([, paths]) => paths.has(path))
    for (const path of this.owners.get(self) ?? []) if (!isKept(path)) this.values.delete(path)
    for (const [path, value] of config) this.values.set(path, value)
    this.owners.set(self, new Set(config.keys()))
    this.forgetEmpty()
    return []
  }

  update(manager: string, after: Values, isCreate: boolean): void {
    const changed = [...after].filter(([path, value]) => this.values.get(path) !== value).map(([path]) => path)
    const removed = [...this.values.keys()].filter((path) => !after.has(path))
    this.values = new Map(after)
    if (this.owners.size === 0 && !isCreate) return
    for (const paths of this.owners.values()) for (const path of [...changed, ...removed]) paths.delete(path)
    const self = `${manager} Update`
    this.owners.set(self, new Set([...(this.owners.get(self) ?? []), ...changed]))
    this.forgetEmpty()
  }

  private forgetEmpty(): void {
    for (const [name, paths] of this.owners) if (paths.size === 0) this.owners.delete(name)
  }
}

function createRandom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound
  }
}

function randomValues(random: (bound: number) => number): Values {
  const values: Values = new Map()
  for (const name of scalars) if (random(3) === 0) values.set(`.${name}`, random(3))
  for (const tag of tags) if (random(3) === 0) values.set(`.tags[="${tag}"]`, 0)
  return values
}

function toObject(values: Values): Record<string, unknown> {
  const object: Record<string, unknown> = { apiVersion, kind: 'Thing', metadata: { name: 'one' }, tags: [] }
  for (const [path, value] of values) {
    if (path.startsWith('.tags')) (object['tags'] as string[]).push(path.slice(8, -2))
    else object[path.slice(1)] = value
  }
  return object
}

function toValues(object: Readonly<Record<string, unknown>>): Values {
  const values: Values = new Map()
  for (const name of scalars) if (object[name] !== undefined) values.set(`.${name}`, object[name] as number)
  for (const tag of (object['tags'] ?? []) as string[]) values.set(`.tags[="${tag}"]`, 0)
  return values
}

const lines = (values: Values) => [...values].map(([path, value]) => `${path}=${value}`).sort()
const ownerLines = (owners: Iterable<[string, Iterable<string>]>) =>
  [...owners].map(([name, paths]) => `${name}: ${[...paths].sort()}`).sort()

function entryLines(entries: readonly ManagedFieldsEntry[]): string[] {
  return ownerLines(
    entries.map((entry) => [`${entry.manager} ${entry.operation}`, describePaths(parseFieldSet(entry.fieldsV1) as FieldSet)]),
  )
}

/** Runs the engine and the model side by side. Returns the first difference, or undefined. */
function runSideBySide({ seed, steps, engine }: { seed: number; steps: number; engine: Engine }): string | undefined {
  const random = createRandom(seed)
  const model = new Model()
  let live: Record<string, unknown> | undefined
  let managedFields: ManagedFieldsEntry[] = []
  for (let step = 0; step < steps; step++) {
    if (random(50) === 0) {
      live = undefined
      managedFields = []
      model.values = new Map()
      model.owners = new Map()
    }
    const manager = managers[random(managers.length)] as string
    const values = randomValues(random)
    const before = live === undefined ? undefined : { ...live, metadata: { name: 'one', managedFields } }
    if (random(3) === 0) {
      const after = toObject(values)
      managedFields = engine.trackUpdate({ before, after, manager, apiVersion, now, schema, blank: { tags: [] } })
      model.update(manager, values, live === undefined)
      live = after
    } else {
      const force = random(2) === 0
      const outcome = engine.applyTo({
        live: before,
        config: toObject(values),
        manager,
        apiVersion,
        force,
        schema,
        now,
        blank: { tags: [] },
      })
      const wanted = model.apply(manager, values, force)
      const found = outcome.kind === 'conflicts' ? outcome.conflicts.map((conflict) => `${conflict.manager} ${conflict.path}`).sort() : []
      if (outcome.kind === 'invalid') return `step ${step}: ${outcome.message}`
      if (String(found) !== String(wanted)) return `step ${step}: conflicts ${found}, wanted ${wanted}`
      if (outcome.kind === 'conflicts') {
        model.owners = new Map([...model.owners].filter(([name]) => managedFields.length > 0 || !name.startsWith(beforeFirstApplyManager)))
        continue
      }
      live = { ...outcome.object, tags: outcome.object['tags'] ?? [] }
      managedFields = outcome.managedFields
    }
    if (String(lines(toValues(live))) !== String(lines(model.values)))
      return `step ${step}: values ${lines(toValues(live))}, wanted ${lines(model.values)}`
    const [owners, wanted] = [entryLines(managedFields), ownerLines(model.owners)]
    if (String(owners) !== String(wanted)) return `step ${step}: owners ${owners}, wanted ${wanted}`
  }
  return undefined
}

/** An engine that loses one path of one entry, once. */
function forgetOnePath(atCall: number): Engine {
  let call = 0
  const damage = (entries: ManagedFieldsEntry[]): ManagedFieldsEntry[] => {
    const index = entries.findIndex((entry) => describePaths(parseFieldSet(entry.fieldsV1) as FieldSet).length > 0)
    if (++call < atCall || index < 0) return entries
    call = Number.NEGATIVE_INFINITY
    const [, ...others] = Object.entries(entries[index]?.fieldsV1 ?? {})
    const fields = Object.fromEntries(others)
    return entries.map((entry, at) => (at === index ? { ...entry, fieldsV1: printFieldSet(parseFieldSet(fields) as FieldSet) } : entry))
  }
  return {
    trackUpdate: (options) => damage(trackUpdate(options)),
    applyTo: (options) => {
      const outcome = applyTo(options)
      return outcome.kind === 'applied' ? { ...outcome, managedFields: damage(outcome.managedFields) } : outcome
    },
  }
}

/** An engine that overlooks one conflict, once. */
function missOneConflict(atConflict: number): Engine {
  let seen = 0
  return {
    trackUpdate,
    applyTo: (options) => {
      const outcome: ApplyOutcome = applyTo(options)
      if (outcome.kind !== 'conflicts' || ++seen !== atConflict) return outcome
      return outcome.conflicts.length > 1
        ? { kind: 'conflicts', conflicts: outcome.conflicts.slice(1) }
        : applyTo({ ...options, force: true })
    },
  }
}

describe('ownership against a simple model', () => {
  test(`SSA-06: ten thousand random applies, forces, updates and removals agree, seed ${seed}`, () => {
    expect(runSideBySide({ seed, steps: 10_000, engine: { applyTo, trackUpdate } })).toBeUndefined()
  })

  test.each([1, 20, 300])(`a planted loss of ownership at write %i is found, seed ${seed}`, (atCall) => {
    expect(runSideBySide({ seed, steps: 10_000, engine: forgetOnePath(atCall) })).toMatch(/owners/)
  })

  test.each([1, 20, 300])(`a planted loss of conflict %i is found, seed ${seed}`, (atConflict) => {
    expect(runSideBySide({ seed, steps: 10_000, engine: missOneConflict(atConflict) })).toMatch(/conflicts/)
  })
})
