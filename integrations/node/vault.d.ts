// SPDX-License-Identifier: Apache-2.0
import type {IncomingMessage, ServerResponse} from 'node:http';

export const VAULT_URL: string;

export interface Options {
    key?: string;
    url?: string;
}

export interface Arguments {
    [name: string]: string | number | boolean | Arguments;
}

export class Vault {
    constructor(request: IncomingMessage, response: ServerResponse, options?: Options);
    get page(): string | undefined;
    get(key: string): string | undefined;
    feed(feed: string, method: string, args?: Arguments, options?: {timeout?: number}): Promise<{rows: any[] | null; first: boolean}>;
    poll(url: string): this;
    stream(url: string): string | undefined;
    interest(...names: string[]): this;
    set(key: string, value: string | number | null | undefined): this;
    changed(key: string, content: string): boolean;
    notify(...names: string[]): this;
    format(word: string): this;
    static escape(text: string): string;
    static element(action: string, html?: string, where?: {target?: string; targets?: string}): string;
    static append(id: string, html: string): string;
    static prepend(id: string, html: string): string;
    static replace(id: string, html: string): string;
    static update(id: string, html: string): string;
    static before(id: string, html: string): string;
    static after(id: string, html: string): string;
    static remove(id: string): string;
    static refresh(): string;
    static notifyNow(name: string, options?: {url?: string; timeout?: number}): Promise<boolean>;
}

export default function vault(options?: Options): (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
