import { checked } from '../../description/fields.ts'
import { known, only } from '../../description/texts.ts'
import { ref } from '../../description/values.ts'
import { checkPathSegment, checkSubdomain, type FieldError, textSince } from '../../meta/index.ts'
import { domainGroup } from '../../names.ts'
import { goValue } from '../../schema/go-value.ts'
import { invalidFor, invalidTexts, invalidValue, requiredValue, unsupportedValue } from '../../validation/field-errors.ts'
import { isSame, itemsOf, type Part, partOf, textOf } from '../../validation/part.ts'
import { as, type RuleContext, type TypeRules, within } from '../../validation/rule-book.ts'
import { validateLabelSelector } from '../../validation/selector.ts'
import { allowChecked } from './checks.ts'

/** The rules of a binding to one of these kinds of roles. Its role is immutable. */
const bindingRules = (...roles: readonly string[]): TypeRules => [
  within('roleRef', validateRoleGroup, as('kind', checked(only(known(...roles)))), 'name', validateRoleName),
  'subjects',
  refuseOtherRole,
]

/** Roles and their bindings. */
export const rbacRules: Readonly<Record<string, TypeRules>> = {
  'rbac/v1.AggregationRule': [within('clusterRoleSelectors', validateRoleSelector)],
  'rbac/v1.ClusterRoleBinding': bindingRules('ClusterRole'),
  'rbac/v1.PolicyRule': [
    'verbs',
    validatePaths,
    { when: (rule) => itemsOf(rule, 'nonResourceURLs').length === 0, steps: ['apiGroups', 'resources'] },
  ],
  'rbac/v1.RoleBinding': bindingRules('Role', 'ClusterRole'),
  'rbac/v1.Subject': ['name', validateSubject],
}

/** An invalid selector adds one more error, because kube-apiserver also converts it. */
function validateRoleSelector(errors: FieldError[], selector: Part, at: string): void {
  const wrong = validateLabelSelector(selector, at)
  errors.push(...wrong, ...(wrong.length === 0 ? [] : [invalidValue(at, undefined, 'invalid label selector.')]))
}

function isNamespaced({ object }: RuleContext): boolean {
  return textOf(partOf(object, 'metadata'), 'namespace') !== ''
}

/** Only ClusterRoles may name paths. */
function validatePaths(errors: FieldError[], rule: Part, at: string, context: RuleContext): void {
  const urls = itemsOf<string>(rule, 'nonResourceURLs')
  if (urls.length === 0) return
  const refuse = (detail: string): void => void errors.push(invalidTexts(`${at}.nonResourceURLs`, urls, detail))
  if (isNamespaced(context)) refuse('namespaced rules cannot apply to non-resource URLs')
  if (['apiGroups', 'resources', 'resourceNames'].some((name) => itemsOf(rule, name).length > 0)) {
    refuse('rules cannot apply to both regular resources and non-resource URLs')
  }
}

function validateRoleGroup(errors: FieldError[], role: Part, at: string, { names }: RuleContext): void {
  requireGroup(errors, role, at, domainGroup(names, 'rbac.authorization'))
}

function validateRoleName(errors: FieldError[], role: Part, at: string): void {
  allowChecked(errors, { part: role, name: 'name', at }, checkPathSegment)
}

function requireGroup(errors: FieldError[], part: Part, at: string, group: string): void {
  const given = textOf(part, 'apiGroup')
  if (given !== group) errors.push(unsupportedValue(`${at}.apiGroup`, given, [group]))
}

/** The first level at which the rule for an immutable role is declarative, and the first level whose message is known. */
const [declaredSince, plainSince] = [37, 34]
const keptRole = textSince(plainSince, { before: 'cannot change roleRef', after: 'field is immutable' })

function refuseOtherRole(errors: FieldError[], binding: Part, _at: string, { live, level, declared }: RuleContext): void {
  const role = partOf(binding, 'roleRef')
  if (live === undefined || isSame(role, partOf(live, 'roleRef'))) return
  const ofRules = level < declaredSince ? errors : declared
  ofRules.push(invalidValue('roleRef', goValue(ref('rbac/v1.RoleRef'), role), keptRole))
}

function validateSubject(errors: FieldError[], subject: Part, at: string, context: RuleContext): void {
  const [kind, name] = [textOf(subject, 'kind'), textOf(subject, 'name')]
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '') errors.push(...invalidFor(`${at}.name`, name, checkSubdomain(name)))
      requireGroup(errors, subject, at, '')
      if (!isNamespaced(context) && textOf(subject, 'namespace') === '') errors.push(requiredValue(`${at}.namespace`))
      return
    case 'User':
    case 'Group':
      requireGroup(errors, subject, at, domainGroup(context.names, 'rbac.authorization'))
      return
    default:
      errors.push(unsupportedValue(`${at}.kind`, kind, ['ServiceAccount', 'User', 'Group']))
  }
}
