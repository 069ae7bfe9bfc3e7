/** validation */

export { invalidTexts, tooLongValue } from './field-errors.ts'
export { cidrFamilyOf, ipFamilyOf } from './ip-address.ts'
export { type MetaRules, validateFieldManager, validateObjectMeta, validateObjectMetaUpdate } from './object-meta.ts'
export { isSame, itemsOf, partOf } from './part.ts'
export { compareSemver, isSemver } from './semver.ts'
