import { isJsonObject } from '@orch/core/json'
import type { LimitedResource, ScopeRequirement } from '@orch/core/quota'
import { ConfigurationError, type PluginConfiguration, parseVersioned } from '../configuration.ts'

/** The resources that may be used only under a quota; none by default. */
export function readLimitedResources(configuration: PluginConfiguration | undefined, group: string): readonly LimitedResource[] {
  if (configuration === undefined) return []
  const fail = (where: string, expected: string): never => {
    throw new ConfigurationError(`${configuration.file}: ResourceQuota: ${where}: expected ${expected}`)
  }
  const olderGroup = group.replace('apiserver.config', 'resourcequota.admission')
  const { limitedResources, ...rest } = parseVersioned(configuration, [
    { kind: 'ResourceQuotaConfiguration', apiVersion: `${group}/v1` },
    { kind: 'Configuration', apiVersion: `${olderGroup}/v1beta1` },
    { kind: 'Configuration', apiVersion: `${olderGroup}/v1alpha1` },
  ])
  refuseUnknown(rest, fail)
  return listOf(limitedResources, (expected) => fail('limitedResources', expected)).map((item, index) => {
    const at = `limitedResources[${index}]`
    const { apiGroup = '', resource, matchContains, matchScopes, ...more } = recordOf(item, (expected) => fail(at, expected))
    refuseUnknown(more, (field, expected) => fail(`${at}.${field}`, expected))
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

function refuseUnknown(rest: Readonly<Record<string, unknown>>, fail: (field: string, expected: string) => never): void {
  const [field] = Object.keys(rest)
  if (field !== undefined) fail(field, 'no such field')
}

type Fail = (expected: string) => never

function recordOf(value: unknown, fail: Fail): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : fail('an object')
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
