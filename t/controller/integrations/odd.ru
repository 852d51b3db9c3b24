# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# What integrations/rack makes of names, values and URLs that are no plain words. odd.php and odd.mjs do the same, and have elements.
require 'rack'
require_relative '../../../integrations/rack/mod_vault'

ODD = %(k\u00e4se, 50%;"'=<&>)

NEWEST = ['database', 'get_new_instances', { table: 'logs', limit: 20 }].freeze

def lines(rows, first) = JSON.generate([first, rows.map { |row| row['line'] }])

use ModVault::Middleware, key: ENV.fetch('VAULT_KEY'), url: ENV.fetch('VAULT_URL')
run(lambda do |env|
  vault = env['mod_vault']
  html = ->(text) { [200, { 'content-type' => 'text/html; charset=utf-8' }, [text]] }
  case env['PATH_INFO']
  when '/odd/page'
    vault.poll('/odd/news?list=a,b&path=%2F x')
    vault['Odd-Key'] = ODD
    vault['gone'] = 'x'
    vault['gone'] = nil
    vault['number'] = 0
    html['<!doctype html><title>odd</title>']
  when '/odd/stream'
    html["<!doctype html><title>odd</title><p>#{vault.stream('/odd/news?list=a,b').gsub('&', '&amp;')}"]
  when '/odd/news'
    vault.interest(ODD, 'second')
    next html[''] unless vault.changed?('shown', File.read(ENV.fetch('COMMENTS')))

    query = Rack::Request.new(env).GET
    html[JSON.generate(list: query['list'], path: query['path'], page: vault.page,
                       odd: vault['ODD-KEY'] == ODD, gone: vault['gone'], number: vault['number'])]
  when '/odd/notify'
    vault.notify('nobody', ODD)
    [500, {}, []]
  when '/odd/rows'
    vault.poll('/odd/more')
    html["<!doctype html><title>rows</title>#{lines(*vault.feed(*NEWEST))}"]
  when '/odd/more'
    rows, first = vault.feed(*NEWEST)
    html[rows ? lines(rows, first) : '']
  when '/odd/save'
    vault.feed('database', 'save', table: 'logs', values: { line: Rack::Request.new(env).GET['line'] })
    html['']
  when '/odd/refused'
    begin
      vault.feed('database', 'get_new_instances', table: 'none')
    rescue RuntimeError => e
      html[e.message]
    end
  end
end)
