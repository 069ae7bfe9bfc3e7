/** Certificates of the server and its administrator. */
export * from './certificate-source.ts'
export * from './certificates.ts'
export * from './files.ts'
export * from './serving-names.ts'
