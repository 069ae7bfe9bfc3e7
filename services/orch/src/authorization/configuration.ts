import { statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { type AccessCondition, compileAccessCondition } from '@orch/core/expressions'
import { checkSubdomain, durationToMs, parseDuration } from '@orch/core/meta'
import { domainGroup, type Names } from '@orch/core/names'
import { type AuthorizationMode, authorizationModes } from '@orch/gateway'
import { messageOf } from '@orch/platform'
import { FieldReader, type Reading } from '../configuration/field-reader.ts'

/** An authorization webhook in the configuration. */
export interface ConfiguredWebhook {
  readonly mode: 'Webhook'
  readonly name: string
  /** Client configuration file of its server. */
  readonly configFile: string
  readonly timeoutMs: number
  readonly version: 'v1' | 'v1beta1'
  /** 0 disables the cache. */
  readonly authorizedTtlMs: number
  readonly unauthorizedTtlMs: number
  readonly failurePolicy: 'NoOpinion' | 'Deny'
  readonly conditions: readonly AccessCondition[]
  /** Its text in the file, which identifies the webhook. */
  readonly text: string
}

/** One authorizer of the chain. */
export type ConfiguredAuthorizer = ConfiguredWebhook | { readonly mode: Exclude<AuthorizationMode, 'Webhook'>; readonly name: string }

const versions = ['v1', 'v1beta1', 'v1alpha1']
/** Timeout of a request to a webhook. */
export const timeoutMsMax = 30_000
/** Default lifetimes of cached answers. */
const ttlMsDefaults = { authorized: 300_000, unauthorized: 30_000 } as const
const conditionsMax = 64

/** Checks an AuthorizationConfiguration of `apiserver.config.k8s.io`. The rules and their texts are those of kube-apiserver's validation. */
export function parseAuthorizationConfiguration(
  value: unknown,
  names: Names,
): Reading<{ readonly authorizers: readonly ConfiguredAuthorizer[] }> {
  const reader = new Reader()
  const group = domainGroup(names, 'apiserver.config')
  const authorizers = reader.configuration(
    value,
    versions.map((version) => `${group}/${version}`),
  )
  return reader.reading({ authorizers })
}

type Fields = Readonly<Record<string, unknown>>

class Reader extends FieldReader {
  readonly #modes = new Set<string>()
  readonly #authorizerNames = new Set<string>()

  configuration(value: unknown, apiVersions: readonly string[]): ConfiguredAuthorizer[] {
    const fields = this.root(value, { kind: 'AuthorizationConfiguration', apiVersions, known: ['authorizers'] })
    const authorizers = this.list(fields['authorizers'], 'authorizers')
    if (authorizers.length === 0) this.required('authorizers', 'at least one authorization mode must be defined')
    return authorizers.flatMap((one, index) => this.#authorizer(one, `authorizers[${index}]`) ?? [])
  }

  #authorizer(value: unknown, path: string): ConfiguredAuthorizer | undefined {
    const fields = this.fields(value, path, ['type', 'name', 'webhook'])
    const mode = this.#mode(fields['type'], `${path}.type`)
    const name = this.text(fields['name'] ?? '', `${path}.name`)
    this.#checkName(name, `${path}.name`)
    const { webhook } = fields
    if (mode !== 'Webhook') {
      if (webhook !== undefined && webhook !== null) this.invalid(`${path}.webhook`, 'non-null', 'may only be specified when type=Webhook')
      return mode && { mode, name }
    }
    if (webhook === undefined || webhook === null) {
      this.required(`${path}.webhook`, 'required when type=Webhook')
      return undefined
    }
    return { mode, name, ...this.#webhook(webhook, `${path}.webhook`), text: JSON.stringify(value) }
  }

  #mode(value: unknown, path: string): AuthorizationMode | undefined {
    const text = this.text(value ?? '', path)
    const mode = authorizationModes.find((known) => known === text)
    if (text === '') this.required(path)
    else if (mode === undefined) this.unsupported(path, text, authorizationModes)
    // All users would be allowed everything by a file that may change, including anonymous ones if admitted.
    else if (mode === 'AlwaysAllow') this.invalid(path, text, 'is for --authorization-mode alone')
    else if (mode !== 'Webhook' && this.#modes.has(mode)) this.duplicate(path, mode)
    this.#modes.add(text)
    return mode
  }

  #checkName(name: string, path: string): void {
    const problems = name === '' ? [] : checkSubdomain(name)
    if (name === '') this.required(path)
    else if (this.#authorizerNames.has(name)) this.duplicate(path, name)
    else if (problems.length > 0) this.invalid(path, name, `authorizer name is invalid: ${problems.join(', ')}`)
    this.#authorizerNames.add(name)
  }

  #webhook(value: unknown, path: string): Omit<ConfiguredWebhook, 'mode' | 'name' | 'text'> {
    const fields = this.fields(value, path, [
      'timeout',
      'authorizedTTL',
      'unauthorizedTTL',
      'cacheAuthorizedRequests',
      'cacheUnauthorizedRequests',
      'subjectAccessReviewVersion',
      'matchConditionSubjectAccessReviewVersion',
      'failurePolicy',
      'connectionInfo',
      'matchConditions',
    ])
    const timeoutMs = this.#duration(fields['timeout'], `${path}.timeout`)
    if (timeoutMs !== undefined && (timeoutMs < 0 || timeoutMs > timeoutMsMax)) {
      this.invalid(`${path}.timeout`, fields['timeout'], 'must be > 0s and <= 30s')
    }
    const version = this.#oneOf(fields['subjectAccessReviewVersion'], `${path}.subjectAccessReviewVersion`, ['v1', 'v1beta1'])
    const failurePolicy = this.#oneOf(fields['failurePolicy'], `${path}.failurePolicy`, ['NoOpinion', 'Deny'])
    const conditions = this.#conditions(fields['matchConditions'], `${path}.matchConditions`)
    const conditionVersion = fields['matchConditionSubjectAccessReviewVersion'] ?? ''
    if (conditionVersion !== '' || conditions.length > 0) {
      const at = `${path}.matchConditionSubjectAccessReviewVersion`
      this.#oneOf(conditionVersion, at, ['v1'], 'required if match conditions are specified')
    }
    return {
      configFile: this.#connection(fields['connectionInfo'] ?? {}, `${path}.connectionInfo`),
      timeoutMs: timeoutMs ?? timeoutMsMax,
      version: version ?? 'v1',
      authorizedTtlMs: this.#ttl(fields, 'authorized', path),
      unauthorizedTtlMs: this.#ttl(fields, 'unauthorized', path),
      failurePolicy: failurePolicy ?? 'Deny',
      conditions,
    }
  }

  #ttl(fields: Fields, what: 'authorized' | 'unauthorized', path: string): number {
    const [name, switchName] = {
      authorized: ['authorizedTTL', 'cacheAuthorizedRequests'] as const,
      unauthorized: ['unauthorizedTTL', 'cacheUnauthorizedRequests'] as const,
    }[what]
    const ttlMs = this.#duration(fields[name], `${path}.${name}`, ttlMsDefaults[what])
    if (ttlMs !== undefined && ttlMs < 0) this.invalid(`${path}.${name}`, fields[name], 'must be > 0s')
    const isOn = fields[switchName] ?? true
    if (typeof isOn !== 'boolean') this.invalid(`${path}.${switchName}`, isOn, 'must be true or false')
    return isOn === true ? (ttlMs ?? 0) : 0
  }

  /** 0 counts as absent; a setting without a default is required. */
  #duration(value: unknown, path: string, absentMs?: number): number | undefined {
    const text = this.text(value ?? '', path)
    const duration = parseDuration(text === '' ? '0s' : text)
    const ms = duration === undefined ? undefined : durationToMs(duration)
    if (ms === undefined) this.invalid(path, text, 'must be a duration such as 3s')
    else if (ms === 0 && absentMs === undefined) this.required(path)
    return ms === 0 ? absentMs : ms
  }

  #oneOf<T extends string>(value: unknown, path: string, known: readonly T[], missing = ''): T | undefined {
    const text = this.text(value ?? '', path)
    const found = known.find((one) => one === text)
    if (text === '') this.required(path, missing)
    else if (found === undefined) this.unsupported(path, text, known)
    return found
  }

  #connection(value: unknown, path: string): string {
    const fields = this.fields(value, path, ['type', 'kubeConfigFile'])
    const type = this.text(fields['type'] ?? '', `${path}.type`)
    const file = this.text(fields['kubeConfigFile'] ?? '', `${path}.kubeConfigFile`)
    if (type === '') this.required(`${path}.type`)
    else if (type !== 'KubeConfigFile') this.unsupported(`${path}.type`, type, ['KubeConfigFile'])
    else if (file === '') this.required(`${path}.kubeConfigFile`)
    else if (!isAbsolute(file)) this.invalid(`${path}.kubeConfigFile`, file, 'must be an absolute path')
    else this.#checkFile(file, `${path}.kubeConfigFile`)
    return file
  }

  #checkFile(file: string, path: string): void {
    try {
      if (!statSync(file).isFile()) this.invalid(path, file, 'must be a regular file')
    } catch (error) {
      this.invalid(path, file, `error loading file: ${messageOf(error)}`)
    }
  }

  #conditions(value: unknown, path: string): AccessCondition[] {
    const given = this.list(value, path)
    if (given.length > conditionsMax) {
      this.problems.push(`${path}: Too many: ${given.length}: must have at most ${conditionsMax} items`)
      return []
    }
    const known = new Set<string>()
    return given.flatMap((one, index) => {
      const at = `${path}[${index}].expression`
      const text = this.text(this.fields(one, `${path}[${index}]`, ['expression'])['expression'] ?? '', at)
      if (text.trim() === '') this.required(at)
      else if (known.has(text)) this.duplicate(at, text)
      known.add(text)
      const compiled = text.trim() === '' ? undefined : compileAccessCondition(text)
      if (compiled?.kind === 'malformed') this.invalid(at, text, compiled.problem)
      return compiled?.kind === 'expression' ? [compiled] : []
    })
  }
}
