import { ref } from '../../description/define.ts'
import type { FieldError } from '../../meta/status.ts'
import { checkPathSegment, checkSubdomain } from '../../meta/validate-names.ts'
import { domainGroup, type Names } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidFor, invalidTexts, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, optionalPart, type Part, partOf, textOf } from '../../validation/part.ts'
import type { RuleContext } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'

/** The rules of a Role. */
export function validateRole(role: Part, _live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  return itemsOf(role, 'rules').flatMap((rule, index) => validatePolicyRule(rule, `rules[${index}]`, { isNamespaced: true, context }))
}

/** The rules of a ClusterRole, which may also speak of paths and gather other roles' rules. */
export function validateClusterRole(role: Part, _live: Part | undefined, _names: Names, context: RuleContext): FieldError[] {
  const errors = itemsOf(role, 'rules').flatMap((rule, index) =>
    validatePolicyRule(rule, `rules[${index}]`, { isNamespaced: false, context }),
  )
  const aggregation = optionalPart(role, 'aggregationRule')
  if (aggregation === undefined) return errors
  const at = 'aggregationRule.clusterRoleSelectors'
  const selectors = itemsOf(aggregation, 'clusterRoleSelectors')
  if (selectors.length === 0) errors.push(requiredValue(at, 'at least one clusterRoleSelector required if aggregationRule is non-nil'))
  return [...errors, ...selectors.flatMap((selector, index) => validateRoleSelector(selector, `${at}[${index}]`))]
}

/** A selector with errors is one error more, since kube-apiserver reads it as well. */
function validateRoleSelector(selector: Part, at: string): FieldError[] {
  const errors = validateLabelSelector(selector, at)
  return errors.length === 0 ? [] : [...errors, invalidValue(at, undefined, 'invalid label selector.')]
}

/** The first level that declares required fields of these kinds in their types. */
const declaredSince = 37

/** A field that has to be there. A declared rule says so after all others, and no more. */
function requiredIn({ level, declared }: RuleContext, field: string, detail?: string): FieldError[] {
  if (level < declaredSince) return [requiredValue(field, detail)]
  declared.push(requiredValue(field))
  return []
}

interface RoleRules {
  readonly isNamespaced: boolean
  readonly context: RuleContext
}

function validatePolicyRule(rule: Part, at: string, { isNamespaced, context }: RoleRules): FieldError[] {
  const [verbs, groups, resources] = [itemsOf(rule, 'verbs'), itemsOf(rule, 'apiGroups'), itemsOf(rule, 'resources')]
  const urls = itemsOf<string>(rule, 'nonResourceURLs')
  const errors = verbs.length === 0 ? requiredIn(context, `${at}.verbs`, 'verbs must contain at least one value') : []
  if (urls.length > 0) {
    const field = `${at}.nonResourceURLs`
    if (isNamespaced) errors.push(invalidTexts(field, urls, 'namespaced rules cannot apply to non-resource URLs'))
    if (groups.length > 0 || resources.length > 0 || itemsOf(rule, 'resourceNames').length > 0) {
      errors.push(invalidTexts(field, urls, 'rules cannot apply to both regular resources and non-resource URLs'))
    }
    return errors
  }
  if (groups.length === 0) errors.push(requiredValue(`${at}.apiGroups`, 'resource rules must supply at least one api group'))
  if (resources.length === 0) errors.push(requiredValue(`${at}.resources`, 'resource rules must supply at least one resource'))
  return errors
}

/** The rules of a RoleBinding. */
export function validateRoleBinding(binding: Part, live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  return validateBinding(binding, live, { roles: ['Role', 'ClusterRole'], names, isNamespaced: true, context })
}

/** The rules of a ClusterRoleBinding. */
export function validateClusterRoleBinding(binding: Part, live: Part | undefined, names: Names, context: RuleContext): FieldError[] {
  return validateBinding(binding, live, { roles: ['ClusterRole'], names, isNamespaced: false, context })
}

interface BindingRules extends RoleRules {
  readonly roles: readonly string[]
  readonly names: Names
}

/** The subjects of a binding may change; its role may not. */
function validateBinding(binding: Part, live: Part | undefined, rules: BindingRules): FieldError[] {
  const { roles, names, context } = rules
  const group = domainGroup(names, 'rbac.authorization')
  const role = partOf(binding, 'roleRef')
  const errors: FieldError[] = []
  const [roleGroup, kind, name] = [textOf(role, 'apiGroup'), textOf(role, 'kind'), textOf(role, 'name')]
  if (roleGroup !== group) errors.push(unsupportedValue('roleRef.apiGroup', roleGroup, [group]))
  if (!roles.includes(kind)) errors.push(unsupportedValue('roleRef.kind', kind, roles))
  if (name === '') errors.push(...requiredIn(context, 'roleRef.name'))
  errors.push(...invalidFor('roleRef.name', name, checkPathSegment(name)))
  for (const [index, subject] of itemsOf(binding, 'subjects').entries()) {
    errors.push(...validateSubject(subject, `subjects[${index}]`, group, rules))
  }
  if (live !== undefined && !isSame(role, partOf(live, 'roleRef'))) {
    errors.push(invalidValue('roleRef', goValue(ref('rbac/v1.RoleRef'), role), 'cannot change roleRef'))
  }
  return errors
}

function validateSubject(subject: Part, at: string, group: string, { isNamespaced, context }: RoleRules): FieldError[] {
  const [kind, name, given] = [textOf(subject, 'kind'), textOf(subject, 'name'), textOf(subject, 'apiGroup')]
  const errors = name === '' ? requiredIn(context, `${at}.name`) : []
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...invalidFor(`${at}.name`, name, checkSubdomain(name)))
      if (given !== '') errors.push(unsupportedValue(`${at}.apiGroup`, given, ['']))
      if (!isNamespaced && textOf(subject, 'namespace') === '') errors.push(requiredValue(`${at}.namespace`))
      return errors
    case 'User':
    case 'Group':
      if (given !== group) errors.push(unsupportedValue(`${at}.apiGroup`, given, [group]))
      return errors
    default:
      return [...errors, unsupportedValue(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group'])]
  }
}
