# frozen_string_literal: true

# SPDX-License-Identifier: Apache-2.0
# A page of comments that is live, on Rack alone: `COMMENTS=/var/lib/mysite/comments puma -b tcp://127.0.0.1:8003 config.ru`.
# A comment is a line of a file.
require 'erb'
require 'rack'
require_relative '../mod_vault'

class Comments
  include ERB::Util

  def initialize(file)
    @file = file
  end

  def call(env)
    vault = env['mod_vault']
    form = Rack::Request.new(env).POST
    case "#{env['REQUEST_METHOD']} #{env['PATH_INFO']}"
    when 'GET /' then html(page(vault))
    when 'GET /news' then html(news(vault))
    when 'GET /count' then html(count_news(vault))
    when 'POST /comments' then add(vault, form['text'].to_s)
    when 'POST /filter' then filter(vault, form['word'].to_s)
    else [404, {}, []]
    end
  end

  private

  def html(text) = [200, { 'content-type' => 'text/html; charset=utf-8' }, [text]]

  def page(vault)
    comments = read
    count = count(vault, comments)
    vault.poll('/news')
    vault.poll('/count')
    vault['shown'] = comments.length
    vault.changed?('count', count)
    '<!doctype html><html><head><meta charset="utf-8"><title>Comments</title></head><body>' \
      "<p id=\"count\">#{count}</p><ul id=\"comments\">#{list(comments)}</ul>" \
      '<form method="post" action="/comments"><input name="text"><button>Send</button></form></body></html>'
  end

  # A method with a cursor: what is new since the property "shown".
  def news(vault)
    vault.interest('comments')
    comments = read
    fresh = comments.drop(vault['shown'].to_i)
    vault['shown'] = comments.length
    fresh.empty? ? '' : %(<turbo-stream action="append" target="comments"><template>#{list(fresh)}</template></turbo-stream>)
  end

  # A method without a cursor: all of it, if the page shows anything else.
  def count_news(vault)
    vault.interest('comments')
    count = count(vault, read)
    return '' unless vault.changed?('count', count)

    %(<turbo-stream action="update" target="count"><template>#{count}</template></turbo-stream>)
  end

  def add(vault, text)
    File.write(@file, "#{text.scrub.gsub(/\s+/, ' ')}\n", mode: 'a')
    vault.notify('comments')
    [303, { 'location' => '/' }, []]
  end

  # A request of the page's script, which sends X-Vault-Page: from here on the page counts what contains this word.
  def filter(vault, word)
    vault['word'] = word
    [204, {}, []]
  end

  def read = File.exist?(@file) ? File.readlines(@file, chomp: true, encoding: 'UTF-8') : []

  def list(comments) = comments.map { |text| "<li>#{h(text)}</li>" }.join

  def count(vault, comments)
    word = vault['word'].to_s
    found = comments.count { |text| text.include?(word) }
    word.empty? ? "#{found} comments" : "#{found} comments with #{h(word)}"
  end
end

use ModVault::Middleware
run Comments.new(ENV.fetch('COMMENTS'))
