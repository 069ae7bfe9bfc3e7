import type { LimitedResource, ScopeRequirement } from '@orch/core'
import { ConfigurationError, type PluginConfiguration } from '../configuration.ts'

/** What may be used only under a quota; nothing where nothing is configured. */
export function readLimitedResources(configuration: PluginConfiguration | undefined, group: string): readonly LimitedResource[] {
  if (configuration === undefined) return []
  const fail = (where: string, expected: string): never => {
    throw new ConfigurationError(`${configuration.file}: ResourceQuota: ${where}: expected ${expected}`)
  }
  const { apiVersion, kind, limitedResources, ...rest } = recordOf(configuration.value, (expected) => fail('configuration', expected))
  const versions = [`${group}/v1`, `${group.replace('apiserver.config', 'resourcequota.admission')}/v1beta1`]
  if (!versions.includes(String(apiVersion))) fail('apiVersion', versions.join(' or '))
  if (kind !== 'ResourceQuotaConfiguration' && kind !== 'Configuration') fail('kind', 'ResourceQuotaConfiguration')
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) fail(unknown, 'no such field')
  return listOf(limitedResources, (expected) => fail('limitedResources', expected)).map((item, index) => {
    const at = `limitedResources[${index}]`
    const { apiGroup = '', resource, matchContains, matchScopes } = recordOf(item, (expected) => fail(at, expected))
    if (typeof resource !== 'string' || resource === '') return fail(`${at}.resource`, 'the name of a resource')
    if (typeof apiGroup !== 'string') return fail(`${at}.apiGroup`, 'a text')
    return {
      apiGroup,
      resource,
      matchContains: listOf(matchContains, (expected) => fail(`${at}.matchContains`, expected)).map((word) =>
        typeof word === 'string' ? word : fail(`${at}.matchContains`, 'a list of texts'),
      ),
      matchScopes: listOf(matchScopes, (expected) => fail(`${at}.matchScopes`, expected)).map((scope) =>
        scopeOf(scope, (expected) => fail(`${at}.matchScopes`, expected)),
      ),
    }
  })
}

type Fail = (expected: string) => never

function recordOf(value: unknown, fail: Fail): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return fail('an object')
  return value as Readonly<Record<string, unknown>>
}

function listOf(value: unknown, fail: Fail): readonly unknown[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : fail('a list')
}

function scopeOf(value: unknown, fail: Fail): ScopeRequirement {
  const { scopeName, operator, values } = recordOf(value, fail)
  if (typeof scopeName !== 'string' || typeof operator !== 'string') return fail('scopeName and operator')
  return { scopeName, operator, values: listOf(values, fail).map(String) }
}
