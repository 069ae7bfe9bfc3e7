import { BuiltInReaders } from '@orch/core/catalogue'
import { knownReleases } from '@orch/core/feature-gates'
import { textAt } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import type { AddedAffinity, SchedulerProfiles } from '@orch/core/scheduling'
import { decoderOf } from '@orch/core/schema'
import { runAtOnce } from '@orch/core/steps'
import { FieldReader, type Reading } from '../configuration/field-reader.ts'

/** Reads a KubeSchedulerConfiguration of `kubescheduler.config.k8s.io/v1`: names of profiles, and the affinity that each adds (SCHED-32). */
export function parseSchedulerConfiguration(value: unknown, names: Names): Reading<{ readonly profiles: SchedulerProfiles }> {
  const reader = new Reader(names)
  const profiles = reader.configuration(value)
  return reader.reading({ profiles })
}

const plugin = 'NodeAffinity'
const argsKind = 'NodeAffinityArgs'
const type = 'core/v1.NodeAffinity'

class Reader extends FieldReader {
  readonly #names: Names
  readonly #apiVersion: string

  constructor(names: Names) {
    super()
    this.#names = names
    this.#apiVersion = `${domainGroup(names, 'kubescheduler.config')}/v1`
  }

  configuration(value: unknown): SchedulerProfiles {
    const fields = this.root(value, { kind: 'KubeSchedulerConfiguration', apiVersions: [this.#apiVersion], known: ['profiles'] })
    const list = this.list(fields['profiles'], 'profiles')
    if (list.length === 0) this.required('profiles')
    // A single profile needs no name, as in kube-scheduler.
    const usualName = list.length === 1 ? 'default-scheduler' : ''
    const profiles = new Map<string, AddedAffinity | undefined>()
    for (const [index, one] of list.entries()) {
      const at = `profiles[${index}]`
      const { schedulerName, pluginConfig } = this.fields(one, at, ['schedulerName', 'pluginConfig'])
      const name = this.text(schedulerName ?? usualName, `${at}.schedulerName`)
      if (name === '') this.required(`${at}.schedulerName`)
      if (profiles.has(name)) this.duplicate(`${at}.schedulerName`, name)
      profiles.set(name, this.#affinity(pluginConfig, `${at}.pluginConfig`))
    }
    return profiles
  }

  #affinity(value: unknown, at: string): AddedAffinity | undefined {
    let affinity: AddedAffinity | undefined
    for (const [index, one] of this.list(value, at).entries()) {
      const path = `${at}[${index}]`
      const { name, args } = this.fields(one, path, ['name', 'args'])
      if (name !== plugin) this.unsupported(`${path}.name`, this.text(name ?? '', `${path}.name`), [plugin])
      if (index > 0) this.duplicate(path, plugin)
      const known = ['apiVersion', 'kind', 'addedAffinity']
      const { apiVersion = this.#apiVersion, kind = argsKind, addedAffinity } = this.fields(args ?? {}, `${path}.args`, known)
      if (apiVersion !== this.#apiVersion) this.invalid(`${path}.args.apiVersion`, apiVersion, `must be ${this.#apiVersion}`)
      if (kind !== argsKind) this.invalid(`${path}.args.kind`, kind, `must be ${argsKind}`)
      affinity = this.#nodeAffinity(addedAffinity ?? {}, `${path}.args.addedAffinity`)
    }
    return affinity
  }

  /** The value is checked like the field of a Pod. */
  #nodeAffinity(value: unknown, at: string): AddedAffinity | undefined {
    const decoded = decoderOf(type)(value, { trackUnknown: true })
    if (decoded.kind === 'mismatch') {
      this.problems.push(`${at}.${decoded.message}`)
      return undefined
    }
    const { object, unknownFields } = decoded
    for (const field of unknownFields) this.problems.push(`unknown field ${JSON.stringify(`${at}.${field}`)}`)
    const level = knownReleases.own
    const candidate = { body: value, object, part: 'main', names: this.#names, isGateOn: () => false, level } as const
    for (const { field, message } of runAtOnce(new BuiltInReaders(type, { storedAs: type }, level).validate(candidate))) {
      this.problems.push(`${at}.${field}: ${textAt(message, level)}`)
    }
    return object
  }
}
