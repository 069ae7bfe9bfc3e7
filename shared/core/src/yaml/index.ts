/** yaml */

export type { Places } from './compose.ts'
export { yamlDocuments } from './documents.ts'
export { hasBigInteger, type ParsedYaml, parseYaml, parseYamlBytes, problemLines, readYaml, repeatsProblems } from './parse.ts'
export { printYaml } from './print.ts'
export { YamlError } from './yaml-error.ts'
